-- W9: how late a repeating timer of 1 ms is.
local ml, bench = require "moonloop", require "harness"
local loop = ml.current()

loop.timer_slack = tonumber(os.getenv "BENCH_SLACK") or loop.timer_slack
local start = ml.now() + 0.01
local offset = bench.probe.wall() - ml.now() * 1e9  -- Between the loop's clock and the probe's.
local note = bench.lateness(start * 1e9 + offset, bench.scaled(1000), function() os.exit(0) end)
loop:timer { first = 0.01, every = 0.001, note }.next_fire = start
loop:run()
