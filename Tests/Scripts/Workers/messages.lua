-- Messages go both ways in order; those sent before the end are delivered, and then it is over.
local ml = require "moonloop"
local loop = ml.current()
local worker = assert(ml.worker { source = [[
  local ml = require "moonloop"
  for number = 1, 1000 do assert(ml.parent:send(number)) end
  local got = 0
  while true do
    local message = ml.parent:receive { timeout = 10 }
    if message == "end" then break end
    got = got + 1
    assert(message == got, message)
  end
  assert(ml.parent:send("all " .. got))
  return got, { "table" }, nil, "last"
]] })
local expected, last = 0, nil
worker.port:on("message", function(message)
  if type(message) == "string" then last = message return end
  expected = expected + 1
  assert(message == expected)
end)
for number = 1, 500 do assert(worker.port:send(number)) end
worker.port:send "end"
loop:task(function()
  local values = table.pack(worker:await())
  assert(values.n == 4 and values[1] == 500 and values[2][1] == "table" and values[4] == "last")
  assert(worker:await() == 500)
end)
assert(loop:run() == "finished")
assert(expected == 1000 and last == "all 500", last)
assert(worker.status == "done")
