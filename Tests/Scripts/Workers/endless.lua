-- A worker that loops forever is stopped, in whatever way it loops.
local ml = require "moonloop"
local loop = ml.current()
local endless = {
  "while true do end",
  "while true do pcall(function() while true do end end) end",
  "local ml = require 'moonloop' while true do ml.current():run { timeout = 0 } end",
  "local ml = require 'moonloop' ml.current():task(function() while true do ml.sleep(0) end end)",
  "string.rep('a', 30):find(string.rep('a?', 30) .. string.rep('a', 30) .. 'b')",
  [[local ml = require "moonloop"
    local guard <close> = setmetatable({}, { __close = function() while true do end end })
    ml.sleep(math.huge)]],
  [[setmetatable({}, { __gc = function() while true do end end })
    require("moonloop").sleep(math.huge)]],
  [[local db = require "luasql.sqlite3".sqlite3():connect ":memory:"
    require("moonloop").parent:send "begins"
    db:execute
      "with recursive n(i) as (select 1 union all select i from n) select count(*) from n"]],
}
local workers = {}
for place, source in ipairs(endless) do
  workers[place] = assert(ml.worker { name = "endless " .. place, source = source })
end
loop:task(function()
  assert(workers[#workers].port:receive() == "begins")
  for _, worker in ipairs(workers) do worker:stop() end
  for place, worker in ipairs(workers) do
    assert(select(3, worker:await()) == "ECANCELED", place)
  end
  do
    local worker <close> = assert(ml.worker { source = endless[1] })
    assert(worker.status == "running")
  end
  -- Ended without waiting: nothing is left.
  assert(ml.worker { source = endless[1] }):invalidate()
end)
assert(loop:run() == "finished")
