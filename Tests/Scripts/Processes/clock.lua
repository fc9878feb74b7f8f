-- A child holds a clock that jumps: everything that waits for a time comes after it has ended, in
-- order; limits by the system's clock run on.
local ml = require "moonloop"
local loop = ml.current()
local trace = {}
local function note(text) trace[#trace + 1] = text end

loop:task(function(scope)
  local begin = ml.now()
  local child = assert(ml.process.spawn { "cat", stdin = "pipe", stdout = "pipe", name = "cat" })
  local timer = loop:after(1, function() note "timer" end)
  scope:task(function()
    local _, _, code = ml.timeout(2, function() ml.sleep(1000) end)
    note("timeout " .. code)
  end)
  scope:task(function()
    local _, _, code = child.stdout:read("a", { timeout = 3 })
    note("read " .. tostring(code))
  end)
  -- By the system's clock: the loop went to sleep meanwhile, and none of the above has come.
  local none, _, code = ml.process.run { "sleep", "60", timeout = 0.05 }
  assert(none == nil and code == "ETIMEDOUT")
  assert(ml.now() == begin and #trace == 0, table.concat(trace, ", "))
  local why = loop:why(timer)
  local held = "due in 1 s; the clock is held by process 'cat', and will not jump"
  assert(why:find(held, 1, true), why)
  child.stdin:close()
  child:await()
  note "ended"
  ml.sleep(4)
  assert(ml.now() - begin == 4)
end):wait { mode = "default" }
assert(table.concat(trace, ", ") == "read nil, ended, timer, timeout ETIMEDOUT",
  table.concat(trace, ", "))
