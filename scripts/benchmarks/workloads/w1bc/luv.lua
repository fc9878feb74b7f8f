-- W1b, W1c: one chain, or a hundred, of zero-delay one-shots that arm themselves again.
local uv, bench = require "luv", require "harness"
local chains = tonumber(arg[1])
local fires, last = 0, bench.scaled(2e6)

for _ = 1, chains do
  local timer = uv.new_timer()
  local function fire()
    fires = fires + 1
    if fires < last then timer:start(0, 0, fire) else bench.stop(fires); os.exit(0) end
  end
  timer:start(0, 0, fire)
end
local idle = bench.idle_descriptor()
local poll = idle and uv.new_poll(idle)
if poll then poll:start("r", function() end) end
bench.start()
uv.run()
