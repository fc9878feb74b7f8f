-- W2d: the idle time-out: moves live timers, in turn or at random, to a far time from now.
local ml, bench = require "moonloop", require "harness"
local loop = ml.current()
local live, count, batch = {}, tonumber(arg[1]), 1000
local batches = bench.scaled(arg[2] and 2000 or 5000)
local at, n, order = 0, 0, bench.order(count, arg[2] == "random")

local function never() end

local function rearm(timer)
  local i = at
  for _ = 1, batch do
    i = i + 1
    if i > count then i = 1 end
    live[order[i]]:again(1000)
  end
  at, n = i, n + batch
  if n < batch * batches then timer:again(0) else bench.stop(n); loop:stop() end
end

for i = 1, count do live[i] = loop:after(1000, never) end
loop:after(0, rearm)
bench.start()
loop:run()
