-- W4b: another thread signals as fast as it can; signals that come together are one.
local floor, bench = require "floor", require "harness"
local pipe, count = bench.pipes(1)[1], bench.scaled(1e7)

floor.readable(pipe.from, function()
  bench.probe.read(pipe.from, 8)
  if bench.probe.taken() then bench.stop(count); os.exit(0) end
end)
bench.start()
bench.probe.burst(pipe.to, count)
floor.run()
