-- W1a: 10,000 repeating timers of 1 to 10 ms on one grid, or all of 1 ms; the cost of a fire.
local ml, bench = require "moonloop", require "harness"
local loop = ml.current()
local fires, last = 0, bench.scaled(2e6)

local function fire()
  fires = fires + 1
  if fires == last then bench.stop(fires); loop:stop() end
end

local start = ml.now()
for i = 1, 10000 do
  local interval = bench.interval(i) / 1000
  loop:timer { first = interval, every = interval, fire }.next_fire = start + interval
end
bench.start()
loop:run()
