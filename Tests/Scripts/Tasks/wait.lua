-- `wait` nests a run: `default` at top level, a private mode inside a handler (D50).
local ml = require "moonloop"
local loop = ml.current()

local trace = {}
local function note(...) trace[#trace + 1] = table.concat({ ... }, " ") end
local function traced(expected)
  same(trace, expected)
  trace = {}
end

-- At top level everything is served meanwhile.
local tick = loop:every(1, function() note("tick", loop.mode, loop.depth) end)
local task = loop:task(function() ml.sleep(2.5); return "a", "b" end)
same({ task:wait() }, { "a", "b" })
same({ task:wait() }, { "a", "b" })
traced { "tick default 1", "tick default 1" }

-- It gives up when its time is up; the task goes on.
task = loop:task(function() ml.sleep(2); return "late" end)
local late, message, code = task:wait { timeout = 0.25 }
same({ late == nil, code }, { true, "ETIMEDOUT" })
assert(message:find "^timed out: waited for .-task .-made at .-wait.lua:%d+%)$", message)
same({ task.status, task:wait() }, { "suspended", "late" })
tick:invalidate()
trace = {}

-- Inside a handler only the task and its scope are served, with what they start meanwhile.
local other = loop:task(function() ml.sleep(1.5); note "other" end)
loop:task(function()
  task = loop:task({ name = "outer" }, function(scope)
    local child = scope:task(function()
      ml.sleep(1)
      local function sleep() note(loop.mode, loop.depth); ml.sleep(1); return "grandchild" end
      return scope:task(sleep):await()
    end)
    ml.sleep(1.5)
    return child:await()
  end)
  note "waits"
  note(task:wait())
end):await()
other:await()
traced { "waits", "moonloop.wait.1 2", "grandchild", "other" }

-- `mode` serves everything in a mode, `default` everything.
loop:task(function()
  loop:after(0.5, function() note("served in", loop.mode, loop.depth) end)
  local nap = loop:task(function() ml.sleep(1); return "nap" end)
  note(nap:wait { mode = "default" })
end):await()
traced { "served in default 2", "nap" }

-- What the function of `ml.await` returns is served too.
loop:task(function()
  local adopted = loop:task(function()
    return ml.await(function(resume) return loop:after(1, function() resume "adopted" end) end)
  end)
  ml.sleep(0)
  note(adopted:wait())
end):await()
traced { "adopted" }

-- A wait that cannot end says what it is for, and where that would be served.
local function failing(wait, ...)
  return loop:task(function(...)
    local ok, e = pcall(wait, ...)
    assert(not ok)
    return e
  end, ...):await()
end
local callback = loop:task({ name = "orphan" }, function()
  ml.await(function(resume) loop:after(1, resume) end)
end)
local e = failing(callback.wait, callback)
local stuck = "deadlock: nothing is left in mode 'moonloop.wait.1' that could end the wait"
assert(e:find(stuck, 1, true)
  and e:find "task 'orphan' %(made at .-%) waits for a callback %(.-%)"
  and e:find "it would be served in 'default'", e)
callback:await()
local options = { name = "sleeper", modes = { "default", "other" } }
local sleeper = loop:task(options, function() ml.sleep(1) end)
local chained = loop:task({ name = "chained" }, function() sleeper:await() end)
ml.sleep(0)
e = failing(chained.wait, chained)
assert(e:find "task 'chained' %(made at .-%) waits for task 'sleeper' %(made at .-%), which "
  and e:find "which waits for a sleep of 1.0 s"
  and e:find "served in 'default', 'other'", e)
chained:await()

-- It names what might have ended the wait, if only the run had gone on for it.
local idle = loop:after(1, print):keep_alive(false)
local signal = loop:signal { "usr1", keep_alive = false, handler = print }
local deaf = loop:task(function() ml.channel():receive() end)
ml.sleep(0)
local ok
ok, e = pcall(deaf.wait, deaf, { mode = "default" })
assert(not ok and e:find("; signal 'usr1' (made at Tasks/wait.lua:", 1, true)
  and e:find(" might end the wait, but has keep_alive(false), so no run goes on for it "
    .. "(and 1 more like this)", 1, true), e)
idle:invalidate()
signal:invalidate()
ok, e = pcall(deaf.wait, deaf, { mode = "default" })
assert(not ok and not e:find "keep_alive", e)
deaf:cancel()
local me
me = loop:task(function() return select(2, pcall(me.wait, me)) end)
assert(me:await():find "task:wait: a task cannot wait for itself")

-- A stop ends the wait; a wait inside a wait ends when both can.
task = loop:task(function() ml.sleep(10) end)
loop:after(1, function() loop:stop "enough" end)
same(table.pack(task:wait { mode = "default" }), { n = 3, nil, "the run was stopped", "ECANCELED" })
local start = ml.now()
local quick = loop:task(function() ml.sleep(1); return "quick" end)
local slow = loop:task(function() ml.sleep(2); return "slow" end)
loop:task(function()
  loop:after(0, function() note("inner", slow:wait { mode = "default" }) end)
  note("outer", quick:wait { mode = "default" })
  note(ml.now() - start >= 2 and "both" or "early")
end):await()
traced { "inner slow", "outer quick", "both" }

-- A task that is cancelled while it waits by a run gets the error there.
local waiter = loop:task(function()
  local nap = loop:task(function() ml.sleep(10) end)
  return nap:wait { mode = "default" }
end)
ml.sleep(1)
waiter:cancel "no more"
same({ pcall(waiter.await, waiter) }, { false, "no more" })
