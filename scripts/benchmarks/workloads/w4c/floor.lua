-- W4c: numbers that another thread posts into a queue behind a lock, each handed to a function.
local floor, bench = require "floor", require "harness"
local pipe, last = bench.pipes(1)[1], bench.scaled(1e6)
local take = bench.probe.take

local function handle(number)
  if number == last then bench.stop(last); os.exit(0) end
end
floor.readable(pipe.from, function()
  bench.probe.read(pipe.from, 4096)
  for number in take do handle(number) end
end)
bench.start()
bench.probe.flood(pipe.to, last)
floor.run()
