-- W4a: how long after another thread has written into a pipe the handler runs.
local floor, bench = require "floor", require "harness"
local pipe, count = bench.pipes(1)[1], bench.scaled(3000)

local note = bench.times(count, function() os.exit(0) end)
floor.readable(pipe.from, function()
  local now, bytes = bench.probe.wall(), bench.probe.read(pipe.from, 8)
  note(now - string.unpack("=i8", bytes))
end)
bench.probe.ticker(pipe.to, count, 500000)
floor.run()
