-- W10: coroutines that sleep ten times, up to 100 ms each time.
local cqueues, bench = require "cqueues", require "harness"
local tasks, naps = bench.scaled(1e5), bench.naps
local left, queue = tasks, cqueues.new()

for i = 1, tasks do
  queue:wrap(function()
    for turn = 1, 10 do cqueues.sleep(naps[(i * 31 + turn * 97) % bench.nap_count + 1]) end
    left = left - 1
    if left == 0 then bench.stop(tasks * 10); os.exit(0) end
  end)
end
bench.start()
assert(queue:loop())
