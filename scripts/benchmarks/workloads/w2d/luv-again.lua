-- W2d in luv's cheapest words: a repeating timer of that interval, and again() without a handler.
local uv, bench = require "luv", require "harness"
local live, count, batch, batches = {}, tonumber(arg[1]), 1000, bench.scaled(2000)
local at, n, order = 0, 0, bench.order(count, arg[2] == "random")

local function never() end

local function rearm()
  local i = at
  for _ = 1, batch do
    i = i + 1
    if i > count then i = 1 end
    live[order[i]]:again()
  end
  at, n = i, n + batch
  if n >= batch * batches then bench.stop(n); os.exit(0) end
end

for i = 1, count do
  live[i] = uv.new_timer()
  live[i]:start(1000000, 1000000, never)
end
uv.new_idle():start(rearm)
bench.start()
uv.run()
