-- What `loop:why` says about each common mistake with run loops (D37): each row plants one, and has
-- the whole sentence. "@" stands for file and line.
local ml = require "moonloop"
local loop = ml.current()
local told = 0

local function why(handle) return (loop:why(handle):gsub("[%w_/.-]*causes%.lua:%d+", "@")) end

-- Asks in a handler during a run in the default mode.
local function inside(ask, options)
  options = options or {}
  options.timeout = options.timeout or 1000
  local sentence
  local asker = loop:timer { first = 1, name = "asker", modes = options.mode, function()
    sentence = ask()
    loop:stop()
  end }
  loop:run(options)
  asker:invalidate()
  return sentence
end

local rows = {}
local function row(name, plant, sentence)
  assert(not rows[name], name)
  rows[name] = true
  local made = {}
  local function keep(handle) made[#made + 1] = handle return handle end
  local got = plant(keep)
  for _, handle in ipairs(made) do handle:invalidate() end
  assert(got == sentence, ("\n%s:\n  %s\n  %s"):format(name, got, sentence))
  told = told + 1
end

local function nothing() end

-- ── modes ───────────────────────────────────────────────────────────────────────────────────────

row("not added to a mode", function(keep)
  return why(keep(ml.timer { every = 1, name = "t", nothing }))
end, "timer 't' (made at @): it was not added to a mode, or was removed; use loop:add (due in 1 "
  .. "s)")

row("taken out of its modes", function(keep)
  local source = keep(loop:source { name = "s", nothing })
  loop:remove(source)
  return why(source)
end, "source 's' (made at @): it was not added to a mode, or was removed; use loop:add")

row("wrong mode", function(keep)
  local timer = keep(loop:timer { every = 5, name = "t", modes = { "a", "b" }, nothing })
  return inside(function() return why(timer) end)
end, "timer 't' (made at @): the loop runs in mode 'default', but it is in a, b (due in 4 s); add "
  .. "it to 'default' too, or run 'a'")

row("a mode that is misspelled", function(keep)
  local timer = keep(loop:timer { every = 5, name = "t", modes = "defualt", nothing })
  return inside(function() return why(timer) end)
end, "timer 't' (made at @): the loop runs in mode 'default', but it is in defualt (due in 4 s): "
  .. "is that meant to be 'default'?")

row("a mode that is misspelled, and a loop that does not run", function(keep)
  return why(keep(loop:source { name = "s", modes = "defualt", nothing }))
end, "source 's' (made at @): the loop does not run; it can be called once it runs in defualt; "
  .. "is that meant to be 'default'?")

row("a common item, and a mode that is not common", function(keep)
  local timer = keep(loop:timer { every = 5, name = "t", modes = "common", nothing })
  return inside(function() return why(timer) end, { mode = "private" })
end, "timer 't' (made at @): the loop runs in mode 'private', but it is in default (due in 4 s); "
  .. "'private' is not a common mode: loop:add_common_mode \"private\" makes it one")

row("the mode of a nested run that excludes it", function(keep)
  local timer = keep(loop:timer { every = 3, name = "t", nothing })
  local sentence
  keep(loop:timer { first = 1, name = "outer", function()
    keep(loop:timer { first = 4, name = "inner", modes = "ask", function()
      sentence = why(timer)
      loop:stop()
    end })
    loop:run "ask"
    loop:stop()
  end })
  loop:run { timeout = 1000 }
  return sentence
end, "timer 't' (made at @): the loop runs in mode 'ask', but it is in default (due 2 s ago); "
  .. "timer 'outer' (made at @) has been running this one for 4 s, and the run in "
  .. "'default' continues when it ends: give it a timeout, or name 'ask' among the modes")

row("a nested run in the middle that goes on before", function(keep)
  local timer = keep(loop:timer { every = 9, name = "t", nothing })
  local sentence
  keep(loop:timer { first = 1, name = "outer", function()
    keep(loop:timer { first = 1, name = "middle", modes = "b", function()
      keep(loop:timer { first = 1, name = "inner", modes = "c", function()
        sentence = why(timer)
        loop:stop()
      end })
      loop:run "c"
      loop:stop()
    end })
    loop:run "b"
    loop:stop()
  end })
  loop:run { timeout = 1000 }
  return sentence
end, "timer 't' (made at @): the loop runs in mode 'c', but it is in default (due in 6 s); timer "
  .. "'middle' (made at @) has been running this one for 1 s, and the run in 'default' continues "
  .. "when it and the one in 'b', of timer 'outer' (made at @), have ended: give it a timeout, or "
  .. "name 'c' among the modes")

row("a mode of task:wait, which nobody can name", function(keep)
  local timer = keep(loop:timer { every = 3, name = "t", nothing })
  local sentence
  keep(loop:timer { first = 1, name = "outer", function()
    loop:task(function()
      ml.sleep(1)
      sentence = why(timer)
    end):wait()
    loop:stop()
  end })
  loop:run { timeout = 1000 }
  return sentence
end, "timer 't' (made at @): the loop runs in a private mode of task:wait, but it is in default "
  .. "(due in 1 s); timer 'outer' (made at @) has been running this one for 1 s, and the run in "
  .. "'default' continues when it ends: use task:await, or task:wait { mode = \"default\" }")

-- ── the run ─────────────────────────────────────────────────────────────────────────────────────

row("the loop does not run", function(keep)
  return why(keep(loop:timer { every = 1, name = "t", modes = "a", nothing }))
end, "timer 't' (made at @): the loop does not run; it can fire once it runs in a (due in 1 s); "
  .. "call loop:run { mode = \"a\" }")

row("the script has run its loop by itself", function(keep)
  return why(keep(loop:timer { every = 1, name = "t", nothing }))
end, "timer 't' (made at @): the loop does not run; it can fire once it runs in default (due in "
  .. "1 s); this script runs its loop by itself, so call loop:run() again")

row("the loop does not run, and the handler waits", function(keep)
  local timer = keep(loop:timer { every = 1, name = "t", function() ml.sleep(50) end })
  loop:run { timeout = 1.5 }
  local sentence = why(timer)
  timer:invalidate()
  loop:run { timeout = 1000 }
  return sentence
end, "timer 't' (made at @): the loop does not run; it can fire once it runs in default (due in "
  .. "0.5 s); this script runs its loop by itself, so call loop:run() again; and its handler waits "
  .. "for a sleep of 50.0 s (@)")

row("a timer that was invalidated keeps its name", function(keep)
  local timer = loop:timer { every = 1, name = "poll", nothing }
  timer:invalidate()
  return why(timer)
end, "timer 'poll' (made at @): it was invalidated at @; make a new one")

row("a stop that is remembered", function(keep)
  local timer = keep(loop:timer { every = 1, name = "t", nothing })
  loop:stop_when_next_looking()
  local sentence = why(timer)
  assert(loop:run() == "stopped")
  return sentence
end, "timer 't' (made at @): the loop does not run; it can fire once it runs in default (due in "
  .. "1 s); the next run ends at once, because of a remembered stop (stop_when_next_looking)")

row("the run was stopped", function(keep)
  local timer = keep(loop:timer { every = 5, name = "t", nothing })
  return inside(function() loop:stop() return why(timer) end)
end, "timer 't' (made at @): due in 4 s; but this run was stopped, and ends before that: run the "
  .. "loop again")

row("the run ends before that", function(keep)
  local timer = keep(loop:timer { every = 60, name = "t", nothing })
  return inside(function() return why(timer) end, { timeout = 10 })
end, "timer 't' (made at @): due in 59 s; but this run ends before that, in 9 s, by its timeout")

row("it does not hold the run", function(keep)
  local timer = keep(loop:timer { every = 60, name = "t", keep_alive = false, nothing })
  local sentence
  keep(loop:observer { on = "exit", function() sentence = why(timer) end })
  keep(loop:perform(nothing))
  assert(loop:run() == "finished")
  return sentence
end, "timer 't' (made at @): due in 60 s; but it does not hold the run (keep_alive(false)), and "
  .. "no other item does: the run is finished before")

row("an error has stopped the loop", function(keep)
  loop.on_error = function() return "stop" end
  local timer = keep(loop:timer { every = 60, name = "t", nothing })
  keep(loop:timer { first = 1, name = "bad", function() error("boom", 0) end })
  assert(loop:run() == "stopped")
  loop.on_error = nil
  return why(timer)
end, "timer 't' (made at @): the loop does not run, because an error in timer 'bad' (made at @) "
  .. "has stopped it (on_error); it can fire once it runs in default (due in 59 s); this script "
  .. "runs its loop by itself, so call loop:run() again")

-- ── what occupies the thread ────────────────────────────────────────────────────────────────────

row("blocked behind a handler", function(keep)
  local late = keep(loop:timer { every = 3, name = "late", nothing })
  return inside(function()
    loop:run { mode = "empty" }
    keep(loop:source { name = "holder", modes = "other", nothing })
    loop:run { mode = "other", timeout = 5 }  -- stands in for a handler that takes five seconds
    return why(late)
  end)
end, "timer 'late' (made at @): due 3 s ago; the handler of timer 'asker' (made at @) runs now, "
  .. "in a pass that takes 5 s so far, then it fires")

row("was held back", function(keep)
  loop:metrics()
  local late = keep(loop:timer { every = 3, name = "late", nothing })
  keep(loop:timer { first = 1, name = "slow", function()
    keep(loop:source { name = "holder", modes = "other", nothing })
    loop:run { mode = "other", timeout = 10 }
  end })
  loop:run { timeout = 12.5 }
  local sentence = inside(function() return why(late) end)
  loop:metrics { on = false }
  return sentence
end, "timer 'late' (made at @): due in 1.5 s; virtual time stands still while the loop is busy, "
  .. "and jumps ahead when it is idle; it was held back 8 s, until 2.5 s ago, by a "
  .. "nested run of timer 'slow' (made at @)")

row("inside its own handler", function(keep)
  local sentence
  keep(loop:timer { every = 1, name = "t", function(timer)
    sentence = why(timer)
    loop:stop()
  end })
  loop:run()
  return sentence
end, "timer 't' (made at @): its handler is running; it does not fire from within itself")

row("its own handler waits", function(keep)
  local timer = keep(loop:timer { every = 1, name = "t", function() ml.sleep(100) end })
  loop:run { timeout = 5.5 }
  local sentence = inside(function() return why(timer) end)
  timer:invalidate()
  loop:run { timeout = 200 }
  return sentence
end, "timer 't' (made at @): its handler waits for a sleep of 100.0 s (@); fires are coalesced "
  .. "until it returns (5 so far)")

row("a handler that failed", function(keep)
  loop.on_error = nothing
  local timer = keep(loop:timer { every = 2, name = "t", function() error("no such host", 0) end })
  loop:run { timeout = 4.5 }
  loop.on_error = nil
  return inside(function() return (why(timer):gsub("failed %d+ times", "failed n times")) end)
end, "timer 't' (made at @): due in 0.5 s; virtual time stands still while the loop is busy, "
  .. "and jumps ahead when it is idle; its handler failed n times, the last: no such host")

-- ── dates ───────────────────────────────────────────────────────────────────────────────────────

row("a date far in the future", function(keep)
  local timer = keep(loop:after(9e9, nothing))
  return inside(function() return why(timer) end)
end, "timer (made at @): its date is far in the future: due in 285 years; times are seconds, and "
  .. "next_fire counts as ml.now() does")

row("no date", function(keep)
  local timer = keep(loop:after(1, nothing))
  timer.next_fire = math.huge
  return inside(function() return why(timer) end)
end, "timer (made at @): it has no date; set next_fire, or call again(delay)")

row("virtual time that does not pass", function(keep)
  local timer = keep(loop:every(5, nothing))
  return inside(function() return why(timer) end)
end, "timer (made at @): due in 4 s; virtual time stands still while the loop is busy, and "
  .. "jumps ahead when it is idle")

row("a clock that is held", function(keep)
  local child = assert(ml.process.spawn { "cat", stdin = "pipe" })
  local timer = keep(loop:timer { every = 5, name = "t", nothing })
  local text
  loop:perform(function()
    text = why(timer):gsub("held by .-, and", "held by the child, and")
    child.stdin:close()
  end)
  loop:task(function() child:await() loop:stop() end)
  loop:run()
  return text
end, "timer 't' (made at @): due in 5 s; the clock is held by the child, and will not jump "
  .. "until it ends")

row("a tolerance", function(keep)
  local timer = keep(loop:timer { every = 8, tolerance = 4, name = "t", nothing })
  return inside(function()
    keep(loop:source { modes = "other", nothing })
    loop:run { mode = "other", timeout = 8 }
    return why(timer)
  end)
end, "timer 't' (made at @): due 1 s ago; its tolerance lets it be 4 s late, to share a wake-up")

-- ── what keeps the loop from finishing ──────────────────────────────────────────────────────────

row("a timer that repeats holds the run", function(keep)
  keep(loop:timer { every = 60, name = "t", nothing })
  return why()
end, "mode 'default': 1 would keep it running:\n  timer 't' (made at @)")

assert(told == 29, told)
for _, wrong in ipairs { 1, "x", {} } do
  local ok, message = pcall(loop.why, loop, wrong)
  assert(not ok and message:find("takes a handle", 1, true), message)
end
