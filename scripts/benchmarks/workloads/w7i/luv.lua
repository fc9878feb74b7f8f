-- W7i: wake-ups and CPU time of an idle loop with 1,000 far timers and 100 idle descriptors.
local uv, bench = require "luv", require "harness"

local function never() end

for i = 1, 1000 do uv.new_timer():start(bench.far[i] * 1000, 0, never) end
for _, pipe in ipairs(bench.pipes(100)) do uv.new_poll(pipe.from):start("r", never) end
uv.new_timer():start(200, 0, function()
  local finish = bench.idle()
  uv.new_timer():start(bench.idle_seconds * 1000, 0, function() finish(); os.exit(0) end)
end)
uv.run()
