-- Awaiting: results, identity of errors, order, and what cannot be awaited.
local ml = require "moonloop"
local loop = ml.current()

local trace = {}
local function note(...) trace[#trace + 1] = table.concat({ ... }, " ") end
local function traced(expected)
  same(trace, expected)
  trace = {}
end

-- A task begins in the next pass, in order of making, and gets the arguments.
local first = loop:task({ name = "first" }, function(...)
  note("first", ...)
  return "a", nil, 3, nil
end, "x", "y")
local second = loop:task(function() note "second" end)
note("made", first.status, second.status)
same(table.pack(first:await()), { n = 4, "a", nil, 3, nil })
same(table.pack(second:await()), { n = 0 })
traced { "made suspended suspended", "first x y", "second" }

-- Without arguments it gets its scope; a child gets its arguments only.
loop:task({ name = "outer" }, function(scope, ...)
  note(tostring(scope):match "^task 'outer'", select("#", ...))
  scope:task(function(...) note("child", select("#", ...)) end)
  scope:task(function(...) note("child", ...) end, "x", "y")
end):await()
traced { "task 'outer' 0", "child 0", "child x y" }

-- A task that has ended returns its results again, to any caller, at once.
same(table.pack(first:await()), { n = 4, "a", nil, 3, nil })
same({ first.status, first:is_done(), first.name }, { "done", true, "first" })

-- Many tasks await one: all get the results, in the order in which they began to wait.
local slow = loop:task(function() ml.sleep(1); return "r" end)
local waiting = {}
for i = 1, 3 do waiting[i] = loop:task(function() note(i, (slow:await())) end) end
for i = 1, 3 do waiting[i]:await() end
traced { "1 r", "2 r", "3 r" }

-- An error keeps its identity through any number of awaits; nil and false are errors too.
for _, value in ipairs { { code = "EX", message = "boom" }, print, 42, false } do
  local inner = loop:task(function() ml.sleep(0.1); error(value) end)
  local outer = loop:task(function() return inner:await() end)
  local ok, e = pcall(outer.await, outer)
  same({ ok, e == value, outer.status }, { false, true, "failed" })
  same({ select(2, pcall(inner.await, inner)) == value }, { true })
end
local empty = loop:task(function() error(nil) end)
same(table.pack(pcall(empty.await, empty)), { n = 2, false, nil })

-- No task can wait for itself, for its own scope, or in a ring.
local me
me = loop:task({ name = "me" }, function() return pcall(me.await, me) end)
local ok, e = me:await()
assert(not ok and e:find "task:await: a task cannot wait for itself", e)
local parent
parent = loop:task({ name = "parent" }, function(scope)
  return scope:task(function() return pcall(parent.await, parent) end):await()
end)
ok, e = parent:await()
assert(not ok and e:find "task 'parent' %(made at .*%) waits for the tasks of its scope", e)
local a, b
a = loop:task({ name = "a" }, function() return b:await() end)
b = loop:task({ name = "b" }, function() return select(2, pcall(a.await, a)) end)
assert(b:await():find "task 'a' .*waits for this task: neither would ever end")
assert(a:await() == b:await())

-- Awaiting works through pcall, metamethods, iterators and __close.
local value = loop:task(function() ml.sleep(0.1); return 7 end)
local object = setmetatable({}, {
  __add = function(_, n) return value:await() + n end,
  __index = function() return value:await() end,
  __close = function() note("closed " .. value:await()) end,
})
do
  local _ <close> = object
  same({ object + 1, object.field }, { 8, 7 })
  same({ pcall(function() return value:await() end) }, { true, 7 })
  for n in function(_, last) if not last then return value:await() end end do note("item " .. n) end
end
traced { "item 7", "closed 7" }

-- A sleep of 0 gives up the rest of the pass; other things go on meanwhile.
local left = loop:task(function() for i = 1, 3 do note("left " .. i); ml.sleep(0) end end)
local right = loop:task(function() for i = 1, 3 do note("right " .. i); ml.sleep(0) end end)
left:await(); right:await()
traced { "left 1", "right 1", "left 2", "right 2", "left 3", "right 3" }

-- A chain of ten thousand.
local function chain(n)
  if n == 0 then return 0 end
  return loop:task(function() return chain(n - 1) end):await() + 1
end
same({ chain(10000) }, { 10000 })
