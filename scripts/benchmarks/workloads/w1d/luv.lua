-- W1d: one-shot timers with no delay, made a thousand at a time and fired.
local uv, bench = require "luv", require "harness"
local fires, bulk, rounds = 0, 1000, bench.scaled(200)

local function after(delay, handler)
  local timer = uv.new_timer()
  timer:start(delay, 0, function() timer:close(); handler() end)
end

local function fire() fires = fires + 1 end

bench.start()
for _ = 1, rounds do
  for _ = 1, bulk do after(0, fire) end
  uv.run()
end
bench.stop(fires)
