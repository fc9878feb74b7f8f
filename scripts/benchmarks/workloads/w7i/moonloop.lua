-- W7i: wake-ups and CPU time of an idle loop with 1,000 far timers and 100 idle descriptors.
local ml, bench = require "moonloop", require "harness"
local loop = ml.current()

local function never() end

for i = 1, 1000 do loop:after(bench.far[i], never) end
for _, pipe in ipairs(bench.pipes(100)) do loop:fd { fd = pipe.from, read = never } end
loop:after(0.2, function()
  local finish = bench.idle()
  loop:after(bench.idle_seconds, function() finish(); os.exit(0) end)
end)
loop:run()
