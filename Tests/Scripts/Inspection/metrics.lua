-- What the loop did since measuring began (D34, D38): exact on the virtual clock, except for the
-- time that handlers take.
local ml = require "moonloop"
local loop = ml.current()

-- Nothing is measured before the first call, nor after the last look.
assert(loop:metrics { on = false } == nil)
local first = loop:metrics()
assert(first.measured == 0 and first.passes == 0 and #first.handles == 0 and first.idle == 0)
-- Measuring may begin in the middle of a run.
loop:metrics { on = false }
loop:after(1, function() loop:metrics() end)
local ticker = loop:every(1, function() end)
loop:run { timeout = 3.5 }
ticker:invalidate()
local middle = loop:metrics { reset = true }
assert(middle.wake_ups == 3 and middle.idle == 2.5 and middle.measured == 2.5, middle.wake_ups)
assert(middle.handles[1].calls == 3)

assert(first.clock == "virtual" and first.depth == 0 and first.mode == nil)

local function row(name)
  for _, one in ipairs(loop:metrics().handles) do
    if one.name == name then return one end
  end
end

-- A hundred fires; the run in another mode holds one back for three seconds.
local ticks = 0
local tick = loop:timer { every = 1, name = "tick", function() ticks = ticks + 1 end }
local asker = loop:timer { first = 10.5, name = "asker", function()
  assert(loop:run { mode = "ask", timeout = 3.5 } == "timed_out")
end }
local holder = loop:source { name = "holder", modes = "ask", function() end }
local source = loop:source { name = "fed", modes = "common", function() end }
loop:timer { first = 20.5, name = "feeder", function() source:signal() end }
loop:task({ name = "sleeper" }, function() ml.sleep(30.25) ml.sleep(0.5) end)
loop:perform(function() end)
assert(loop:run { timeout = 100.5 } == "timed_out")
local all = loop:metrics()
assert(all.measured == 100.5, all.measured)
assert(all.idle == 100.5, all.idle)
assert(all.live.timers == 1 and all.live.items == 2 and all.live.tasks == 0)
assert(all.live.requests == 0)

local one = row "tick"
assert(one.calls == ticks and ticks == 97, ticks)
assert(one.missed == 0, one.missed)
assert(one.kind == "timer" and one.made_at:find "metrics.lua:30$", one.made_at)
assert(one.late.p50 == 0 and one.late.max == 0 and one.made_late == nil, one.late.max)
local held = one.held
assert(held.max == 3 and held.total == 3 and held.nested_run == 3 and held.missed == 3, held.max)
assert(held.count == 1 and held.mode == 0 and held.handler == 0 and held.clock == 0)
assert(held.by:find "^by a nested run of timer 'asker' %(made at %S+metrics.lua:31%)$", held.by)
assert(one.duration.p50 <= one.duration.p90 and one.duration.p99 <= one.duration.max)
assert(one.busy > 0 and one.busy < 10 and math.abs(one.busy / one.calls - one.duration.mean) < 1e-6)

assert(row("fed").calls == 1 and row("fed").late == nil and row("holder") == nil)
assert(row("sleeper").calls == 3 and row("sleeper").kind == "task")
local performed
for _, some in ipairs(all.handles) do performed = performed or some.kind == "perform" and some end
assert(performed.calls == 1 and performed.made_at:find "metrics.lua:38$")

-- Every sleep ended for a reason, which the rows show; the end of the two runs counts as "nothing".
local sum = 0
for _, count in pairs(all.causes) do sum = sum + count end
assert(sum == all.wake_ups, sum)
assert(all.causes.nothing == 2 and all.causes.timer == sum - 2, all.causes.timer)
local woken = 0
for _, some in ipairs(all.handles) do woken = woken + some.wake_ups end
assert(woken == all.causes.timer)

-- A row's busy time is the sum of its parts, and all rows add up to the loop's.
local busy = 0
for place, some in ipairs(all.handles) do
  assert(place == 1 or some.busy <= all.handles[place - 1].busy)
  busy = busy + some.busy
end
assert(math.abs(busy - all.busy) < 1e-6)

-- Handles with the same place and name share a row; another place has its own.
for _ = 1, 5 do loop:timer { first = 1, name = "same", function() end } end
loop:timer { first = 1, name = "same", function() end }
loop:run { timeout = 2 }
local counts = {}
for _, some in ipairs(loop:metrics().handles) do
  if some.name == "same" then counts[#counts + 1] = some.calls end
end
table.sort(counts)
assert(#counts == 2 and counts[1] == 1 and counts[2] == 5)

-- A look may start the measurement again.
assert(loop:metrics { reset = true }.passes > 0)
assert(loop:metrics().passes == 0 and #loop:metrics().handles == 0)
loop:run { timeout = 2 }
assert(row("tick").calls == 2)
-- In a handler, what is under way counts once it is over.
loop:after(0.1, function()
  local now = loop:metrics()
  assert(now.mode == "default" and now.depth == 1)
end)
loop:run { timeout = 0.2 }

for _, wrong in ipairs { { { on = 1 }, "'on' must be" }, { { offf = true }, "offf" } } do
  local ok, message = pcall(loop.metrics, loop, wrong[1])
  assert(not ok and message:find(wrong[2], 1, true), message)
end
for _, handle in ipairs { tick, asker, holder, source } do handle:invalidate() end
loop:metrics { on = false }
assert(loop:metrics { on = false } == nil)
