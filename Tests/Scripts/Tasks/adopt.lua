-- `ml.await` adopts callback APIs (D23), `ml.timeout` sets deadlines (D22), and modes follow (D62).
local ml = require "moonloop"
local loop = ml.current()
local start = ml.now()

-- The values of the first call, before or after the function has returned; later calls are ignored.
local function later(...)
  local values = table.pack(...)
  return ml.await(function(resume)
    return loop:after(1, function() resume(table.unpack(values, 1, values.n)); resume "again" end)
  end)
end
same(table.pack(later(1, nil, 3, nil)), { n = 4, 1, nil, 3, nil })
same(table.pack(later()), { n = 0 })
same(table.pack(later "one"), { n = 1, "one" })
same({ ml.await(function(resume) resume("at", "once"); resume "again" end) }, { "at", "once" })

-- The function may itself wait, and its error is raised unchanged.
same({ ml.await(function(resume) ml.sleep(1); resume "waited" end) }, { "waited" })
local boom = {}
same(select(2, pcall(ml.await, function() error(boom) end)) == boom, true)

-- What it returned is closed when the task is cancelled, and only then.
local closed = 0
local closable = setmetatable({}, { __close = function() closed = closed + 1 end })
local timer
local task = loop:task(function()
  same({ ml.await(function(resume) resume "x"; return closable end) }, { "x" })
  ml.await(function() timer = loop:after(100, print); return timer end)
end)
ml.sleep(0.5)
same({ closed, timer:is_valid() }, { 0, true })
task:cancel()
same(timer:is_valid(), false)
task = loop:task(function() ml.await(function() return closable end) end)
ml.sleep(0)
task:cancel()
same(closed, 1)

-- Calling `resume` after the end has no effect.
local kept
task = loop:task(function() ml.await(function(resume) kept = resume end) end)
ml.sleep(0)
task:cancel()
pcall(task.await, task)
kept "too late"

-- A deadline: results, errors, and the end of what is late, with its children.
same({ ml.timeout(1, function(a, b) ml.sleep(0.5); return b, a end, 1, 2 ) }, { 2, 1 })
same({ pcall(ml.timeout, 1, error, boom) }, { false, boom })
local note
local here = ("(%s:55)"):format(debug.getinfo(1, "S").short_src)
same(table.pack(ml.timeout(1, function()
  local x <close> = setmetatable({}, { __close = function(_, e) note = e end })
  ml.sleep(10)
end)), { n = 3, nil, "timed out: waited for a sleep of 10.0 s " .. here, "ETIMEDOUT" })
same(note, "timed out: waited for a sleep of 10.0 s " .. here)
same(table.pack(ml.timeout(0, ml.sleep, 5)),
  { n = 3, nil, "timed out: waited for its first turn", "ETIMEDOUT" })
same({ ml.timeout(5, function() return select("#", ml.timeout(1, ml.sleep, 10)) end) }, { 3 })
local function late() ml.sleep(5); note = "not here" end
task = loop:task(function() return ml.timeout(10, late) end)
ml.sleep(1)
task:cancel "both"
same({ pcall(task.await, task) }, { false, "both" })
ml.sleep(10)
same(note, "timed out: waited for a sleep of 10.0 s " .. here)
loop:after(0, function()
  note = ml.timeout(1, function() ml.sleep(0.5); return "in a handler" end)
end)
ml.sleep(2)
same(note, "in a handler")

-- Cancelled while it sleeps, it ends at once.
start = ml.now()
task = loop:task(function() ml.sleep(math.huge) end)
ml.sleep(1)
task:cancel()
pcall(task.await, task)
same(ml.now() - start, 1.0)

-- A task is in the modes of the item whose handler made it, its children in the task's; or as set.
local trace = {}
local function nap(name) ml.sleep(1); trace[#trace + 1] = name .. " in " .. loop.mode end
loop:timer { first = 0, modes = { "default", "side" }, function()
  loop:task(function(scope)
    scope:task(nap, "child")
    scope:task({ modes = "default" }, nap, "told")
  end)
  loop:task({ modes = "default" }, function() nap "own" end)
end }
ml.sleep(0.5)
loop:task(function() loop:run { mode = "side", timeout = 1 } end):await()
ml.sleep(1)
same(trace, { "child in side", "own in default", "told in default" })

-- A function that is late but still returns has returned.
same({ ml.timeout(1, function() pcall(ml.sleep, 5); return "cleaned up" end) }, { "cleaned up" })
