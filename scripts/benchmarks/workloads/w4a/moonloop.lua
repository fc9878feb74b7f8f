-- W4a: how long after a worker has sent a message the handler of its port runs.
local ml, bench = require "moonloop", require "harness"
local count = bench.scaled(3000)

local note = bench.times(count, function() os.exit(0) end)
local worker = assert(ml.worker { args = count, source = [[
  local ml, probe = require "moonloop", require "probe"
  for _ = 1, ... do
    ml.sleep(0.0005)
    ml.parent:send(probe.wall())
  end
]] })
worker.port:on("message", function(sent) note(bench.probe.wall() - sent) end)
ml.current():run()
