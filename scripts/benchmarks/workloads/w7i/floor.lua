-- W7i: wake-ups and CPU time of an idle loop with 1,000 far timers and 100 idle descriptors.
local floor, bench = require "floor", require "harness"

local function never() end

for i = 1, 1000 do floor.after(bench.far[i], never) end
for _, pipe in ipairs(bench.pipes(100)) do floor.readable(pipe.from, never) end
floor.after(0.2, function()
  local finish = bench.idle()
  floor.after(bench.idle_seconds, function() finish(); os.exit(0) end)
end)
floor.run()
