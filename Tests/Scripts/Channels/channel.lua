-- Channels: order, back-pressure, rendezvous, closing, deadlines, and cancelled waiters.
local ml = require "moonloop"
local loop = ml.current()

local trace = {}
local function note(...)
  local texts = table.pack(...)
  for i = 1, texts.n do texts[i] = tostring(texts[i]) end
  trace[#trace + 1] = table.concat(texts, " ")
end
local function traced(expected)
  same(trace, expected)
  trace = {}
end
local function all(...) for _, task in ipairs { ... } do task:await() end end

-- A sender runs ahead by the capacity, and goes on with each value that is taken.
local queue = ml.channel(2)
local sender = loop:task(function()
  for i = 1, 4 do note("send", i, queue:send(i)) end
  queue:close()
end)
ml.sleep(1)
note(queue.count, #queue, queue.capacity)
for item in queue:items() do note("got", item); ml.sleep(0.1) end
all(sender)
traced {
  "send 1 true", "send 2 true", "2 2 2", "got 1", "send 3 true", "got 2", "send 4 true", "got 3",
  "got 4",
}
same({ queue:receive(), queue:is_valid() }, { nil, false })
same(table.pack(queue:receive()), { n = 1, nil })
same(table.pack(queue:try_receive()), { n = 1, nil })
same(table.pack(queue:send "late"), { n = 3, nil, "closed", "EPIPE" })
same(table.pack(queue:try_send "late"), { n = 3, nil, "closed", "EPIPE" })

-- Capacity 0: both sides meet. `try_send` needs a waiting receiver, `try_receive` a waiting sender.
local meet = ml.channel(0)
same(table.pack(meet:try_send "x"), { n = 3, nil, "full", "EAGAIN" })
same(table.pack(meet:try_receive()), { n = 3, nil, "empty", "EAGAIN" })
local taker = loop:task(function() note("took", meet:receive()) end)
ml.sleep(0)
same({ meet:try_send "one", meet:try_send "two" }, { true, nil, "full", "EAGAIN" })
local giver = loop:task(function() note("gave", meet:send "three") end)
ml.sleep(0)
same({ meet:try_receive() }, { "three" })
all(taker, giver)
traced { "took one", "gave true" }

-- Waiters are served first come, first served, on either side.
local receivers = {}
for i = 1, 3 do receivers[i] = loop:task(function() note(i, meet:receive()) end) end
ml.sleep(0)
for i = 1, 3 do meet:send(i * 10) end
all(table.unpack(receivers))
traced { "1 10", "2 20", "3 30" }
local senders = {}
for i = 1, 3 do senders[i] = loop:task(function() note(i, meet:send(i)) end) end
ml.sleep(0)
for _ = 1, 3 do note(meet:receive()) end
all(table.unpack(senders))
traced { "1", "2", "3", "1 true", "2 true", "3 true" }

-- A deadline gives up: nothing was sent, and nothing is received later.
local one = ml.channel { capacity = 1, name = "one" }
local function late(what, ...)
  local value, message, code = ...
  same({ value == nil, code, select("#", ...) }, { true, "ETIMEDOUT", 3 })
  assert(message:find("^timed out: waited " .. what .. " channel 'one' %(made at .-%)$"), message)
end
late("to receive from", one:receive { timeout = 1 })
late("to receive from", one:receive { timeout = 0 })
same({ one:send("kept", { timeout = 1 }) }, { true })
late("to send into", one:send("lost", { timeout = 1 }))
same({ one:receive { timeout = math.huge } }, { "kept" })
same(table.pack(one:try_receive()), { n = 3, nil, "empty", "EAGAIN" })

-- A cancelled waiter takes no value with it, and those behind it are served.
one:send "full"
local cancelled = loop:task(function() one:send "cancelled" end)
local next_one = loop:task(function() note(one:send "next") end)
ml.sleep(0)
cancelled:cancel "enough"
same({ pcall(cancelled.await, cancelled) }, { false, "enough" })
same({ one:receive(), one:receive(), (one:try_receive()) }, { "full", "next", nil })
all(next_one)
traced { "true" }
cancelled = loop:task(function() one:receive() end)
next_one = loop:task(function() note("next", one:receive()) end)
ml.sleep(0)
cancelled:cancel()
one:send "a"
all(next_one)
traced { "next a" }

-- Cancelled between handover and turn: the value is its own, and the next await raises.
local task
task = loop:task(function()
  note("got", one:receive())
  note(pcall(one.receive, one))
end)
ml.sleep(0)
one:send "b"
task:cancel "stop"
all(task)
traced { "got b", "false stop" }
-- The same under a deadline in the same pass: a result that was returned counts.
loop:after(1, function() one:try_send "c" end)
same({ ml.timeout(1, one.receive, one) }, { "c" })
local none, late, code = ml.timeout(1, one.receive, one)
same({ none == nil, code }, { true, "ETIMEDOUT" })
assert(late:find "^timed out: waited to receive from channel 'one' %(made at ", late)
same(table.pack(one:try_receive()), { n = 3, nil, "empty", "EAGAIN" })

-- Closing: waiting senders get an error and their values are not sent; the rest is received.
local closing = ml.channel(1)
closing:send "rest"
local waits = loop:task(function() note("send", closing:send "never") end)
ml.sleep(0)
closing:close()
closing:close()
all(waits)
for item in closing:items() do note(item) end
traced { "send nil closed EPIPE", "rest" }
local open = ml.channel(0)
local ends = {}
for i = 1, 2 do ends[i] = loop:task(function() note(i, select("#", open:receive())) end) end
ml.sleep(0)
open:close()
all(table.unpack(ends))
traced { "1 1", "2 1" }

-- `invalidate` and `<close>` drop the rest.
local kept
do
  local c <close> = ml.channel(2)
  c:send(setmetatable({}, { __name = "rest" }))
  kept = c
end
same({ kept.count, kept:receive() }, { 0, nil })
kept:invalidate()

-- Values keep their identity; false is a value; nil is a mistake, and so is a wrong argument.
local value = {}
local any = ml.channel(3)
any:send(value); any:send(false); any:send(any)
same({ any:receive() == value, any:receive(), any:receive() == any }, { true, false, true })
local function message(...) return (select(2, pcall(...)):gsub(" %(.*", "")) end
same(message(any.send, any, nil),
  "channel:send: the value must not be nil: nil marks the end of a channel")
same(message(any.send, any, 1, { timout = 1 }), "channel:send: unknown option 'timout'")
same(message(any.receive, any, 5),
  "channel:receive: takes a table of options, such as { timeout = 5 }; got 5")
same(message(ml.channel, -1),
  "ml.channel: the capacity must be a whole number from 0 to 16777216, got -1")
same(message(ml.channel, { size = 1 }), "ml.channel: unknown option 'size'")
same(message(any.receive),
  "channel:receive: must be called with a colon; got no value for the channel")
assert(tostring(one):find "^channel 'one' %(made at .*channel.lua:%d+%): 0 of 1$", tostring(one))

-- Where Lua cannot wait: an error, even if there is a value; `try_receive` works.
any:send "x"
local found
table.sort({ 2, 1 }, function()
  found = found or { message(any.receive, any), any:try_receive() }
  return false
end)
same(found, {
  "channel:receive: cannot wait here: inside the comparator of table.sort; use :wait on a task",
  "x" })

-- A value in an unreferenced channel is garbage, even one that holds the channel.
local weak = setmetatable({}, { __mode = "k" })
do
  local c = ml.channel(1)
  local v = { c }
  weak[v] = true
  c:send(v)
end
for _ = 1, 4 do collectgarbage() end
same(next(weak), nil)

-- Waiting for a channel does not keep a run going, and a deadlock names the channel.
local jobs = ml.channel { name = "jobs" }
local stuck = loop:task({ name = "stuck" }, function() return jobs:receive() end)
local sorted, e
loop:task(function()
  ml.sleep(0)
  sorted, e = pcall(stuck.wait, stuck)
end):await()
assert(not sorted and e:find("deadlock: nothing is left in mode 'moonloop.wait.1' that could end "
  .. "the wait: task 'stuck' (made at ", 1, true)
  and e:find "waits to receive from channel 'jobs' %(made at .-%) %(.-channel.lua:%d+%)", e)
jobs:send "go"
same(stuck:await(), "go")

-- A hundred thousand values by ten senders and ten receivers: none is lost, doubled or overtaken.
local pipe, sums, count = ml.channel(7), {}, 0
local workers = {}
for s = 1, 10 do
  workers[#workers + 1] = loop:task(function() for i = 1, 10000 do pipe:send { s, i } end end)
end
for r = 1, 10 do
  workers[#workers + 1] = loop:task(function()
    local last = {}
    for item in pipe:items() do
      assert(item[2] > (last[item[1]] or 0))
      last[item[1]] = item[2]
      sums[item[1]] = (sums[item[1]] or 0) + item[2]
      count = count + 1
      if count == 100000 then pipe:close() end
    end
  end)
end
all(table.unpack(workers))
for s = 1, 10 do same(sums[s], 10000 * 10001 // 2) end
same(count, 100000)

-- Ten thousand waiters, cancelled in any order.
local waiting = {}
for i = 1, 10000 do waiting[i] = loop:task(function() pipe = pipe; return meet:receive() end) end
ml.sleep(0)
for i = 1, 10000, 2 do waiting[i]:cancel() end
for i = 9998, 2, -2 do waiting[i]:cancel() end
meet:send "last"
same(waiting[10000]:await(), "last")
