-- A ready task takes its turn among the due timers of its modes, like a timer made at that moment.

local ml = require "moonloop"
local loop = ml.current()

local function trace()
  local seen = {}
  return seen, function(word) return function() seen[#seen + 1] = word end end
end

-- In the order of becoming ready, each once a pass, behind what was due before.
local seen, note = trace()
loop:after(0.001, note "due before")
loop:after(0.001, function()
  loop:task(note "made first")
  loop:after(0, note "timer")
  loop:task(function()
    note "made last"()
    ml.sleep(0)
    note "went on"()
  end)
  loop:observer { on = "before_timers", repeats = false, note "pass" }
end)
loop:run()
same(seen, { "due before", "pass", "made first", "timer", "made last", "went on" })

-- While a task runs, neither its turn nor its sleep is in the mode: a run there ends at once.
seen, note = trace()
loop:task(function()
  seen[#seen + 1] = loop:modes().default.empty
  seen[#seen + 1] = loop:run { mode = "default" }
  ml.sleep(0.5)
  seen[#seen + 1] = loop:modes().default.empty
  seen[#seen + 1] = loop:next_timer() == nil
end)
seen[#seen + 1] = loop:modes().default.timers
loop:run()
same(seen, { 1, true, "finished", true, true })

-- What is due after a sleep is the outer run's: one nested in after_waiting leaves it the tasks.
seen, note = trace()
loop:after(0.001, function() loop:task(note "task") end)
loop:observer { on = "after_waiting", function(observer)
  if observer.fires < 2 then return end
  observer:invalidate()
  loop:task(note "task of the observer")
  seen[#seen + 1] = loop:run { mode = "default", timeout = 0 }
  seen[#seen + 1] = loop:next_timer() <= ml.now()
end }
loop:run()
same(seen, { "timed_out", true, "task", "task of the observer" })

-- A task goes on in whichever of its modes runs first, once; a mode that becomes common serves it.
seen, note = trace()
loop:task({ modes = { "default", "other" } }, note "in two")
loop:task({ modes = "common" }, note "common")
same({ loop:modes().default.timers, loop:modes().other.timers }, { 2, 1 })
loop:add_common_mode "other"
same({ loop:modes().default.timers, loop:modes().other.timers }, { 2, 2 })
loop:run { mode = "other" }
same(seen, { "in two", "common" })
same({ loop:modes().default.empty, loop:modes().other.empty }, { true, true })

-- A wait serves the tasks it is for in their order, and leaves the others where they are.
seen, note = trace()
loop:after(0.001, function()
  loop:task(note "other")
  local parent = loop:task(function(scope)
    scope:task(note "child")
    ml.sleep(0)
    note "parent"()
  end)
  loop:after(0, function()
    parent:wait()
    note "waited"()
  end)
end)
loop:run()
same(seen, { "other", "child", "parent", "waited" })

-- A cancelled task loses its turn.
seen, note = trace()
local first, second = loop:task(note "first"), loop:task(note "second")
first:cancel()
same({ loop:modes().default.timers, first.status }, { 1, "cancelled" })
loop:run()
same({ seen[1], seen[2], second.status }, { "second", nil, "done" })

-- The report of a failure that no task awaits takes a turn too, and is measured.
loop:metrics()
seen = {}
local failing = loop:task(function() error("no luck", 0) end)
failing.on_error = function(e) seen[#seen + 1] = e.message end
loop:run()
for _, row in ipairs(loop:metrics { on = false }.handles) do seen[#seen + 1] = row.calls end
same(seen, { "no luck", 1, 1 })
