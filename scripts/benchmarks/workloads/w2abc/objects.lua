-- W2a, b, c: cancels one of some live far timers, anywhere among them, and makes another.
local floor, bench = require "floor", require "harness"
local after, far, far_count = floor.object_after, bench.far, bench.far_count
local live, count, batch, batches = {}, tonumber(arg[1]), 1000, bench.scaled(2000)
local stride, at, n = bench.stride(count), 1, 0

local function never() end

local function churn()
  local i, delay = at, n % far_count + 1
  for _ = 1, batch do
    i, delay = i + stride, delay + 1
    if i > count then i = i - count end
    if delay > far_count then delay = 1 end
    live[i]:cancel()
    live[i] = after(far[delay], never)
  end
  at, n = i, n + batch
  if n < batch * batches then after(0, churn) else bench.stop(n); os.exit(0) end
end

for i = 1, count do live[i] = after(far[i % far_count + 1], never) end
after(0, churn)
bench.start()
floor.run()
