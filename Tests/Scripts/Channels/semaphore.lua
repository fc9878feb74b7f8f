-- Semaphores: at most as many holders as permits, first come first served, nothing leaks.
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
local function all(tasks) for _, task in ipairs(tasks) do task:await() end end

-- Never more than there are permits, in the order of asking.
local gate = ml.semaphore { permits = 2, name = "gate" }
local active, most, tasks = 0, 0, {}
for i = 1, 5 do
  tasks[i] = loop:task(function()
    return gate:with(function(a, b)
      active = active + 1
      most = math.max(most, active)
      note("in", i, a, b)
      ml.sleep(1)
      active = active - 1
    end, "a", nil)
  end)
end
local start = ml.now()
all(tasks)
same({ most, ml.now() - start, gate.available, gate.permits }, { 2, 3.0, 2, 2 })
traced { "in 1 a nil", "in 2 a nil", "in 3 a nil", "in 4 a nil", "in 5 a nil" }

-- `with` returns what the function returns, at once or after a wait, and passes its error on.
local function counted(...) return select("#", ...), ... end
local function later() ml.sleep(1); return "later", nil end
same(table.pack(gate:with(counted, 1, nil)), { n = 3, 2, 1, nil })
same(table.pack(gate:with(later)), { n = 2, "later", nil })
local boom = {}
same(select(2, pcall(gate.with, gate, error, boom)) == boom, true)
same(select(2, pcall(gate.with, gate, function() ml.sleep(1); error(boom) end)) == boom, true)
same(gate.available, 2)

-- A permit is returned when its task is cancelled: while it waits for it, and while it has it.
local single = ml.semaphore(1)
local holder = loop:task(function() single:with(ml.sleep, 1000) end)
local waiter = loop:task(function() single:with(note, "never") end)
local behind = loop:task(function() single:with(note, "behind") end)
ml.sleep(1)
waiter:cancel "enough"
holder:cancel()
same({ pcall(waiter.await, waiter) }, { false, "enough" })
all { behind }
same(single.available, 1)
traced { "behind" }
-- Cancelled between handover and turn: `with` begins, and ends at the first await.
local permit = single:acquire()
local task = loop:task(function()
  single:with(function() note "begins"; ml.sleep(1); note "not here" end)
end)
ml.sleep(0)
permit:release()
task:cancel "late"
same({ pcall(task.await, task) }, { false, "late" })
same(single.available, 1)
traced { "begins" }

-- A guard returns its permit once; the end of a block does it; so does an error.
do
  local p <close> = single:acquire()
  same({ p:is_valid(), single.available }, { true, 0 })
  same(table.pack(single:try_acquire()), { n = 3, nil, "no permit is free", "EAGAIN" })
  local permit, message, code = single:acquire { timeout = 1 }
  same({ permit == nil, code }, { true, "ETIMEDOUT" })
  assert(message:find "^timed out: waited to acquire semaphore ", message)
  p:release()
  p:release()
  p:invalidate()
  same({ p:is_valid(), single.available }, { false, 1 })
end
same(single.available, 1)
pcall(function() local p <close> = single:acquire(); error "x" end)
same(single.available, 1)

-- A returned permit goes to the next waiter; no other task comes in between.
permit = single:acquire()
task = loop:task(function() single:acquire(); note "mine" end)
ml.sleep(0)
permit:release()
same({ (single:try_acquire()) }, { nil })
all { task }
traced { "mine" }

-- Without a guard: `release`, and not more often than there are permits.
single:release()
local ok, e = pcall(single.release, single)
assert(not ok and e:find("^semaphore:release: semaphore %(made at .-%) already has all its "
  .. "permits %(1%): one was released twice, or never acquired"))

-- The end: waiting and later callers get an error; permits can still be returned.
permit = single:acquire()
task = loop:task(function() note(single:acquire()); note(single:with(print)) end)
ml.sleep(0)
single:invalidate()
all { task }
permit:release()
same({ single:is_valid(), single.available }, { false, 1 })
traced { "nil closed EPIPE", "nil closed EPIPE" }
task = loop:task(function()
  local s <close> = ml.semaphore(1)
  s:acquire()
  tasks = { loop:task(function() note(s:with(print)) end) }
  ml.sleep(0)
end)
task:await()
all(tasks)
traced { "nil closed EPIPE" }

-- Mistakes, and where Lua cannot wait.
local function message(...) return (select(2, pcall(...)):gsub(" %(.*", "")) end
local range = "ml.semaphore: the number of permits must be a whole number from 1 to "
  .. "1073741824, got "
same(message(ml.semaphore), range .. "no value")
same(message(ml.semaphore, 0), range .. "0")
same(message(ml.semaphore, { name = "x" }), "ml.semaphore: needs 'permits', the number of permits")
same(message(gate.with, gate, 5), "semaphore:with: takes a function, got 5")
local found
table.sort({ 2, 1 }, function() found = message(gate.acquire, gate); return false end)
same(found, "semaphore:acquire: cannot wait here: inside the comparator of table.sort; use :wait "
  .. "on a task")
assert(tostring(gate):find "^semaphore 'gate' %(made at .-%): 2 of 2$")

-- A deadlock names the semaphore.
local hold = gate:acquire()
gate:acquire()
local stuck = loop:task({ name = "stuck" }, function() gate:acquire() end)
loop:task(function()
  ml.sleep(0)
  ok, e = pcall(stuck.wait, stuck)
end):await()
assert(not ok and e:find("task 'stuck' %(made at .-%) waits to acquire semaphore 'gate' "
  .. "%(made at .-%)"), e)
hold:release()
stuck:await()
