-- W2a, b, c: cancels one of some live far timers, anywhere among them, and makes another.
local ml, bench = require "moonloop", require "harness"
local loop, far, far_count = ml.current(), bench.far, bench.far_count
local live, count, batch, batches = {}, tonumber(arg[1]), 1000, bench.scaled(2000)
local stride, at, n = bench.stride(count), 1, 0

local function never() end

local function churn(timer)
  local i, delay = at, n % far_count + 1
  for _ = 1, batch do
    i, delay = i + stride, delay + 1
    if i > count then i = i - count end
    if delay > far_count then delay = 1 end
    live[i]:invalidate()
    live[i] = loop:after(far[delay], never)
  end
  at, n = i, n + batch
  if n < batch * batches then timer:again(0) else bench.stop(n); loop:stop() end
end

for i = 1, count do live[i] = loop:after(far[i % far_count + 1], never) end
loop:after(0, churn)
bench.start()
loop:run()
