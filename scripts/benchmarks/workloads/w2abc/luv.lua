-- W2a, b, c: cancels one of some live far timers, anywhere among them, and makes another.
local uv, bench = require "luv", require "harness"
local far, far_count = bench.far, bench.far_count
local live, count, batch, batches = {}, tonumber(arg[1]), 1000, bench.scaled(500)
local stride, at, n = bench.stride(count), 1, 0

local function never() end

local function after(delay)
  local timer = uv.new_timer()
  timer:start(delay * 1000, 0, never)
  return timer
end

-- An idle handle and not a timer: closed timers are given back once a turn.
local function churn()
  local i, delay = at, n % far_count + 1
  for _ = 1, batch do
    i, delay = i + stride, delay + 1
    if i > count then i = i - count end
    if delay > far_count then delay = 1 end
    live[i]:close()
    live[i] = after(far[delay])
  end
  at, n = i, n + batch
  if n >= batch * batches then bench.stop(n); os.exit(0) end
end

for i = 1, count do live[i] = after(far[i % far_count + 1]) end
uv.new_idle():start(churn)
bench.start()
uv.run()
