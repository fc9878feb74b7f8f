-- W1b, W1c: one chain, or a hundred, of zero-delay one-shots that arm themselves again.
local floor, bench = require "floor", require "harness"
local chains, again = tonumber(arg[1]), floor.again
local fires, last = 0, bench.scaled(3e6)
for _ = 1, chains do
  local timer
  timer = floor.after(0, function()
    fires = fires + 1
    if fires < last then again(timer, 0) else bench.stop(fires); os.exit(0) end
  end)
end
local idle = bench.idle_descriptor()
if idle then floor.readable(idle, function() end) end
bench.start()
floor.run()
