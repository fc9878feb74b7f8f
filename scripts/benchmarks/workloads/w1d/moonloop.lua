-- W1d: one-shot timers with no delay, made a thousand at a time and fired.
local ml, bench = require "moonloop", require "harness"
local loop = ml.current()
local fires, bulk, rounds = 0, 1000, bench.scaled(2000)

local function fire() fires = fires + 1 end

bench.start()
for _ = 1, rounds do
  for _ = 1, bulk do loop:after(0, fire) end
  loop:run()
end
bench.stop(fires)
