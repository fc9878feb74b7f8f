-- Cancelling: cooperative, sticky, from children to owners, and `<close>` runs (D21).
local ml = require "moonloop"
local loop = ml.current()

local trace, start = {}, ml.now()
local function note(...) trace[#trace + 1] = table.concat({ ... }, " ") end
local function traced(expected)
  same(trace, expected)
  trace = {}
end
local function closing(name)
  return setmetatable({}, { __close = function(_, e) note("close", name, tostring(e)) end })
end

-- A task that sleeps gets the reason in the next pass; its `<close>` variables run, last first.
local task = loop:task(function()
  local a <close> = closing "a"
  local b <close> = closing "b"
  ml.sleep(1000)
end)
ml.sleep(0)
task:cancel "not needed"
task:cancel "another reason"
note(task.status)
same(table.pack(pcall(task.await, task)), { n = 2, false, "not needed" })
note(task.status)
traced { "suspended", "close b not needed", "close a not needed", "cancelled" }
assert(ml.now() - start < 1)
task:cancel "later"
same(task.status, "cancelled")

-- It never raises in the caller, and is sticky: every later await raises it.
local awaits = 0
local stubborn = loop:task(function()
  for _ = 1, 3 do
    local ok, e = pcall(ml.sleep, 1)
    note(tostring(ok), e)
    awaits = awaits + 1
  end
  return "done all the same"
end)
ml.sleep(0)
stubborn:cancel "stop"
same({ stubborn:await() }, { "done all the same" })
same({ awaits, stubborn.status }, { 3, "done" })
traced { "false stop", "false stop", "false stop" }

-- Before it begins: it never does. Itself: at its next await. Any value is a reason.
local never = loop:task(function() note "never" end)
never:cancel()
same({ never.status, pcall(never.await, never) }, { "cancelled", false, "the task was cancelled" })
local me
local reason = { code = "ECANCELED" }
me = loop:task(function() me:cancel(reason); note "goes on"; ml.sleep(0); note "not here" end)
same(select(2, pcall(me.await, me)) == reason, true)
traced { "goes on" }

-- The whole scope is cancelled: last made first, children before owners.
local function nap(name)
  local x <close> = closing(name)
  ml.sleep(1000)
end
local tree = loop:task(function(scope)
  scope:task(nap, "one")
  scope:task(nap, "two")
  nap "owner"
end)
ml.sleep(0.5)
tree:cancel "all"
same({ pcall(tree.await, tree) }, { false, "all" })
traced { "close two all", "close one all", "close owner all" }

-- A task that awaits is cancelled alone; what it awaited goes on.
local awaited = loop:task(function() ml.sleep(1); return "goes on" end)
local awaiter = loop:task(function() return awaited:await() end)
ml.sleep(0.5)
awaiter:cancel "enough"
same({ pcall(awaiter.await, awaiter) }, { false, "enough" })
same(awaited:await(), "goes on")

-- A child made in a scope that is cancelled never begins.
local late
local owner = loop:task(function(scope)
  pcall(ml.sleep, 1000)
  late = scope:task(function() note "never" end)
  note("late", late.status)
end)
ml.sleep(0)
owner:cancel "over"
owner:await()
traced { "late cancelled" }
local ok, e = pcall(function() owner:task(print) end)
assert(not ok and e:find "task:task: the scope is closed: task %(made at .*%) has ended", e)

-- `<close>` on the handle cancels, and waits for the task to end.
do
  local t <close> = loop:task(function()
    local x <close> = closing "held"
    ml.sleep(1000)
  end)
  ml.sleep(0.1)
  note "leaving"
end
note "left"
traced { "leaving", "close held the task was cancelled", "left" }

-- A tree of ten thousand, deep and wide, is cancelled without a deep stack.
local count = 0
local function deep(scope, n)
  if n > 0 then
    loop:task(function() end)
    scope:task(function() ml.sleep(1000) end)
    count = count + 1
    return deep(scope, n - 1)
  end
  ml.sleep(1000)
end
local wide = loop:task(function(scope) deep(scope, 10000) end)
ml.sleep(1)
wide:cancel "wide"
same({ pcall(wide.await, wide) }, { false, "wide" })
same(count, 10000)

-- Children of children of children, too.
local root = loop:task(function() ml.sleep(1000) end)
local last = root
for _ = 1, 10000 do last = last:task(ml.sleep, 1000) end
ml.sleep(1)
same(last.status, "suspended")
root:cancel "deep"
same({ pcall(last.await, last) }, { false, "deep" })
same({ pcall(root.await, root) }, { false, "deep" })

-- One verb ends every handle (D8): `invalidate` cancels, `is_valid` says whether it has ended.
task = loop:task(function() ml.sleep(1000) end)
same(task:is_valid(), true)
task:invalidate("no reason of its own")
task:invalidate()
same({ pcall(task.await, task) }, { false, "the task was cancelled" })
same({ task:is_valid(), task:is_done() }, { false, true })
