-- W1a: 10,000 coroutines that sleep 1 to 10 ms, or all 1 ms, again and again; the cost of a turn.
local cqueues, bench = require "cqueues", require "harness"
local queue, sleep = cqueues.new(), cqueues.sleep
local fires, last = 0, bench.scaled(1e6)

for i = 1, 10000 do
  local interval = bench.interval(i) / 1000
  queue:wrap(function()
    while fires < last do
      sleep(interval)
      fires = fires + 1
      if fires == last then bench.stop(fires) end
    end
  end)
end
bench.start()
assert(queue:loop())
