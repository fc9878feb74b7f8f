-- W7i: wake-ups and CPU time of an idle queue with 1,000 sleepers and 100 idle descriptors.
local cqueues, bench = require "cqueues", require "harness"
local queue = cqueues.new()

for i = 1, 1000 do queue:wrap(cqueues.sleep, bench.far[i]) end
for _, pipe in ipairs(bench.pipes(100)) do
  queue:wrap(function() cqueues.poll { pollfd = pipe.from, events = "r" } end)
end
queue:wrap(function()
  cqueues.sleep(0.2)
  local finish = bench.idle()
  cqueues.sleep(bench.idle_seconds)
  finish()
  os.exit(0)
end)
assert(queue:loop())
