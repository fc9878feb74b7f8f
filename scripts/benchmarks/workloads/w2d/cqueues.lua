-- W2d: coroutines that wait for a condition with a far time-out; a signal makes each wait again.
local cqueues, condition = require "cqueues", require "cqueues.condition"
local bench = require "harness"
local queue, poll = cqueues.new(), cqueues.poll
local live, count, batch, batches = {}, tonumber(arg[1]), 1000, bench.scaled(300)
local at, n, order = 0, 0, bench.order(count, arg[2] == "random")
local turn = math.min(batch, count)  -- A turn wakes each waiter once: with few of them, more turns.

for i = 1, count do
  local busy = condition.new()
  live[i] = busy
  queue:wrap(function()
    while busy:wait(1000) do end
  end)
end
queue:wrap(function()
  poll(0)
  bench.start()
  while n < batch * batches do
    local i = at
    for _ = 1, turn do
      i = i + 1
      if i > count then i = 1 end
      live[order[i]]:signal()
    end
    at, n = i, n + turn
    poll(0)
  end
  bench.stop(n)
  os.exit(0)
end)
assert(queue:loop())
