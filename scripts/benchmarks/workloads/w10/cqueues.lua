-- W10: coroutines that sleep ten times, up to 100 ms each time.
local cqueues, bench = require "cqueues", require "harness"
local tasks, nap = bench.scaled(1e5), bench.nap
local left, queue = tasks, cqueues.new()

for i = 1, tasks do
  queue:wrap(function()
    for turn = 1, 10 do cqueues.sleep(nap(i, turn)) end
    left = left - 1
    if left == 0 then bench.stop(tasks * 10); os.exit(0) end
  end)
end
bench.start()
assert(queue:loop())
