-- Scopes: a task ends when its function and its children have; it fails with them (D18).
local ml = require "moonloop"
local loop = ml.current()

local trace = {}
local function note(...) trace[#trace + 1] = table.concat({ ... }, " ") end
local function traced(expected)
  same(trace, expected)
  trace = {}
end
local function nap(seconds, name)
  local x <close> = setmetatable({}, {
    __close = function(_, e) note(name, "closes", tostring(e)) end,
  })
  ml.sleep(seconds)
  note(name, "ends")
  return name
end

-- It waits for children that are not awaited.
local start = ml.now()
local task = loop:task(function(scope)
  scope:task(nap, 2, "slow")
  scope:task({ name = "named" }, nap, 1, "quick")
  note "function ends"
  return "result"
end)
same({ task:await() }, { "result" })
same(ml.now() - start, 2.0)
traced { "function ends", "quick ends", "quick closes nil", "slow ends", "slow closes nil" }

-- A failing child cancels its siblings and the function, and its error is the task's.
local boom = { code = "EBOOM" }
task = loop:task(function(scope)
  scope:task(nap, 10, "sibling")
  scope:task(function() ml.sleep(1); error(boom) end)
  nap(20, "function")
end)
same(select(2, pcall(task.await, task)) == boom, true)
same(task.status, "failed")
assert(trace[1]:find "^sibling closes table" and trace[2]:find "^function closes table")
trace = {}

-- Also when the function has ended, and when it catches the error.
task = loop:task(function(scope)
  scope:task(nap, 10, "sibling")
  scope:task(function() ml.sleep(1); error("late", 0) end)
end)
same({ pcall(task.await, task) }, { false, "late" })
task = loop:task(function(scope)
  local child = scope:task(function() error("caught", 0) end)
  same({ pcall(child.await, child) }, { false, "caught" })
  same({ pcall(ml.sleep, 1) }, { false, "caught" })
  return "fine"
end)
same({ pcall(task.await, task) }, { false, "caught" })
traced { "sibling closes late" }

-- A function that fails cancels its children; the task ends after them.
task = loop:task(function(scope)
  scope:task(nap, 10, "child")
  ml.sleep(1)
  error("function failed", 0)
end)
same({ pcall(task.await, task) }, { false, "function failed" })
traced { "child closes function failed" }

-- A child that is cancelled separately is not a failure.
task = loop:task(function(scope)
  local child = scope:task(nap, 10, "child")
  ml.sleep(0)
  child:cancel "alone"
  return "goes on", pcall(child.await, child)
end)
same({ task:await() }, { "goes on", false, "alone" })
traced { "child closes alone" }

-- The first failure is the task's; another one is reported.
local reported
loop.on_error = function(e) reported = e.message; return "continue" end
task = loop:task(function(scope)
  scope:task(function() pcall(ml.sleep, 10); error("second", 0) end)
  scope:task(function() ml.sleep(1); error("first", 0) end)
end)
same({ pcall(task.await, task) }, { false, "first" })
same(reported, "second")
