-- W1d: coroutines that sleep no time once, made a thousand at a time and run.
local cqueues, bench = require "cqueues", require "harness"
local queue, sleep = cqueues.new(), cqueues.sleep
local fires, bulk, rounds = 0, 1000, bench.scaled(200)

local function once() sleep(0); fires = fires + 1 end

bench.start()
for _ = 1, rounds do
  for _ = 1, bulk do queue:wrap(once) end
  assert(queue:loop())
end
bench.stop(fires)
