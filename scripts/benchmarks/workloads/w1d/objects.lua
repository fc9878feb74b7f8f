-- W1d: one-shot timers with no delay, made a thousand at a time and fired.
local floor, bench = require "floor", require "harness"
local after, fires, bulk, rounds = floor.object_after, 0, 1000, bench.scaled(2000)

local function fire() fires = fires + 1 end

bench.start()
for _ = 1, rounds do
  for _ = 1, bulk do after(0, fire) end
  floor.run()
end
bench.stop(fires)
