-- W2d: the idle time-out: moves live timers, in turn or at random, to a far time from now.
local floor, bench = require "floor", require "harness"
local after, again = floor.after, floor.again
local live, count, batch = {}, tonumber(arg[1]), 1000
local batches = bench.scaled(arg[2] and 2000 or 5000)
local at, n, order = 0, 0, bench.order(count, arg[2] == "random")

local function never() end

local function rearm()
  local i = at
  for _ = 1, batch do
    i = i + 1
    if i > count then i = 1 end
    again(live[order[i]], 1000)
  end
  at, n = i, n + batch
  if n < batch * batches then after(0, rearm) else bench.stop(n); os.exit(0) end
end

for i = 1, count do live[i] = after(1000, never) end
after(0, rearm)
bench.start()
floor.run()
