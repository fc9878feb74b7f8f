-- W1a: 10,000 repeating timers of 1 to 10 ms on one grid, or all of 1 ms; the cost of a fire.
local uv, bench = require "luv", require "harness"
local fires, last = 0, bench.scaled(2e6)

local function fire()
  fires = fires + 1
  if fires == last then bench.stop(fires); os.exit(0) end
end

for i = 1, 10000 do uv.new_timer():start(bench.interval(i), bench.interval(i), fire) end
bench.start()
uv.run()
