-- W4c: numbers that a worker sends through its port, one message each.
local ml, bench = require "moonloop", require "harness"
local last = bench.scaled(1e6)

local worker = assert(ml.worker { args = last, source = [[
  local ml = require "moonloop"
  ml.parent:receive()
  for number = 1, ... do ml.parent:send(number, { timeout = 60 }) end
]] })
worker.port:on("message", function(number)
  if number == last then bench.stop(last); os.exit(0) end
end)
bench.start()
worker.port:send "go"
ml.current():run()
