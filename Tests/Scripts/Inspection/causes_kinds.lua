-- What `loop:why` says about sources, observers, descriptors, ports and tasks (D37): each row
-- plants a mistake, and has the whole sentence. "@" stands for file and line.
local ml = require "moonloop"
local loop = ml.current()
local told = 0

local function why(handle) return (loop:why(handle):gsub("[%w_/.-]*causes_%a*%.lua:%d+", "@")) end

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

-- ── the end of a handle ─────────────────────────────────────────────────────────────────────────

row("a source that was invalidated", function()
  local source = loop:source { name = "s", nothing }
  source:invalidate()
  return why(source)
end, "source 's' (made at @): it was invalidated at @; make a new one")

row("a timer that was invalidated", function()
  local timer = loop:timer { every = 1, name = "t", nothing }
  timer:invalidate()
  return why(timer)
end, "timer 't' (made at @): it was invalidated at @; make a new one")

row("a timer without a name that was invalidated", function()
  local timer = loop:every(1, nothing)
  timer:invalidate()
  return why(timer)
end, "timer (made at @): it was invalidated (the place is known only for named items); make a new "
  .. "one")

row("a timer that has fired", function()
  local timer = loop:after(1, nothing)
  loop:run()
  return why(timer)
end, "timer (made at @): one-shot timer; it has already fired; use loop:every to repeat, or "
  .. "call again(delay) in its handler")

row("a timer that is long gone", function(keep)
  local timer = loop:after(1, nothing)
  loop:run()
  keep(loop:after(1, nothing))
  return why(timer)
end, "timer: it has ended: it fired for the last time, or ended with its loop; make a new one")

row("a one-shot observer that has run", function()
  local observer = loop:observer { on = "entry", name = "o", repeats = false, nothing }
  loop:perform(nothing)
  loop:run()
  return why(observer)
end, "observer 'o' (made at @): one-shot observer (repeats = false); it has already run; make "
  .. "a new one")

-- ── sources ─────────────────────────────────────────────────────────────────────────────────────

row("a source that was not signalled", function(keep)
  local source = keep(loop:source { name = "s", nothing })
  return inside(function() return why(source) end)
end, "source 's' (made at @): it has not been signalled; call source:signal()")

row("not signalled again", function(keep)
  local source = keep(loop:source { name = "s", nothing })
  source:signal()
  return inside(function() return why(source) end)
end, "source 's' (made at @): it has not been signalled since it was last performed; call "
  .. "source:signal()")

row("signalled, and nobody wakes the loop", function(keep)
  local source, sentence = keep(loop:source { name = "s", nothing }), nil
  keep(loop:observer { on = "before_waiting", repeats = false, function()
    source:signal()
    sentence = why(source)
  end })
  loop:run { timeout = 1 }
  return sentence
end, "source 's' (made at @): it was signalled when the loop was about to sleep, and a signal "
  .. "does not wake the loop: it is performed after the sleep; call loop:wake_up()")

row("signalled in another mode", function(keep)
  local source = keep(loop:source { name = "s", modes = "a", nothing })
  source:signal()
  return inside(function() return why(source) end)
end, "source 's' (made at @): the loop runs in mode 'default', but it is in a; add it to "
  .. "'default' too, or run 'a'; it is signalled, and stays so")

row("a source whose handler waits", function(keep)
  local source = keep(loop:source { name = "s", function() ml.sleep(50) end })
  source:signal()
  local sentence = inside(function() return why(source) end)
  source:invalidate()
  loop:run { timeout = 100 }
  return sentence
end, "source 's' (made at @): its handler waits for a sleep of 50.0 s (@); nothing is delivered "
  .. "until it returns")

-- ── observers ───────────────────────────────────────────────────────────────────────────────────

row("an observer inside itself", function(keep)
  local sentence
  keep(loop:observer { on = "before_timers", name = "o", repeats = false, function(observer)
    sentence = why(observer)
  end })
  loop:perform(nothing)
  loop:run()
  return sentence
end, "observer 'o' (made at @): its handler is running; it is not called for before_timers "
  .. "from within itself")

row("a run that never sleeps", function(keep)
  local observer = keep(loop:observer { on = "before_waiting", name = "o", nothing })
  local sentence
  loop:perform(function() sentence = why(observer) end)
  loop:run { timeout = 0 }
  return sentence
end, "observer 'o' (made at @): it observes before_waiting, and a run with a timeout of 0 never "
  .. "sleeps")

row("the run has begun already", function(keep)
  local observer = keep(loop:observer { on = "entry", name = "o", nothing })
  return inside(function() return why(observer) end)
end, "observer 'o' (made at @): it observes entry, and this run has already begun; it is called in "
  .. "the next one")

row("observers do not hold a run", function(keep)
  keep(loop:observer { on = "exit", name = "o", nothing })
  return why()
end, "mode 'default': nothing would keep it running")

-- ── descriptors ─────────────────────────────────────────────────────────────────────────────────

local function with_pipe(body)
  local from, to = pipe()
  local text = body(from, to)
  close(from)
  close(to)
  return text
end

row("nothing to read", function(keep)
  return with_pipe(function(from)
    local fd = keep(loop:fd { fd = from, name = "in", read = nothing })
    local text = inside(function() return why(fd) end)
    fd:invalidate()
    return text
  end)
end, "fd 'in' (made at @): there is nothing to read")

row("disabled by its one shot", function(keep)
  return with_pipe(function(from, to)
    local fd = keep(loop:fd { fd = from, name = "in", reenable = {}, read = nothing })
    write(to, "x")
    local text = inside(function() return why(fd) end)
    fd:invalidate()
    return text
  end)
end, "fd 'in' (made at @): none of its events is enabled; use enable, even in its handler, because "
  .. "a call disables it (reenable)")

row("disabled by hand", function(keep)
  return with_pipe(function(from, to)
    local fd = keep(loop:fd { fd = from, name = "in", read = nothing, write = nothing })
    fd:disable "read"
    fd:enable "write"
    write(to, "x")
    local text = inside(function() return why(fd) end)
    fd:invalidate()
    return text
  end)
end, "fd 'in' (made at @): there is something to read, but it is disabled: fd:enable \"read\"; "
  .. "there is no room to write")

row("at its end of file", function(keep)
  local from, to = pipe()
  close(to)
  local text
  local fd = keep(loop:fd { fd = from, name = "in", read = function(fd)
    fd:read(10)
    text = why(fd)
    loop:stop()
  end })
  loop:run()
  fd:invalidate()
  close(from)
  return text
end, "fd 'in' (made at @): it is at end of file, and stays ready to read: invalidate it, or "
  .. "it is called in every pass")

-- ── ports and workers ───────────────────────────────────────────────────────────────────────────

row("a port without a handler", function(keep)
  local port = keep(loop:port { name = "p" })
  port:send(1)
  return inside(function() return why(port) end)
end, "port 'p' (made at @): it has no handler, 1 message waits; use port:on")

row("a port that is full", function(keep)
  local port = keep(loop:port { name = "p", capacity = 2, nothing })
  return inside(function()
    port:send(1)
    port:send(2)
    assert(select(3, port:send(3)))
    return why(port)
  end)
end, "port 'p' (made at @): it is full, 2 messages wait, and sending fails or waits: the handler "
  .. "of timer 'asker' (made at @) runs now, then they are served, one a pass; give it a greater "
  .. "capacity, or send less")

row("a worker that does not run its loop", function()
  local from, to = pipe()
  local worker = assert(ml.worker { name = "w", source = [[
    local ml = require "moonloop"
    ml.parent:send "up"
    io.open("/proc/self/fd/" .. ...):read(1)  -- blocks the thread
  ]], args = from })
  local text
  worker.port:on("message", function()
    text = why(worker):gsub("script is in .-;", "script is stuck;")
  end)
  worker.port:send "for nobody"
  loop:perform(function() end)
  while not text do loop:run { until_handled = true } end
  text = text:gsub("script has not come to its end;", "script is stuck;")
  write(to, "x")
  loop:task(function() worker:await() loop:stop() end)
  loop:run()
  close(from)
  close(to)
  return text
end, "worker 'w' (made at @): it is running, and its end or an error would be reported; its thread "
  .. "does not run its loop: its script is stuck; 1 message waits in it; let it return, or run "
  .. "its loop")

-- ── requests, tasks, and what tasks wait for ────────────────────────────────────────────────────

row("a request for another mode", function(keep)
  local request = keep(loop:perform({ modes = "a" }, nothing))
  return inside(function() return why(request) end)
end, "perform (made at @): the loop runs in mode 'default', but it is in a; add it to 'default' "
  .. "too, or run 'a'")

row("a request that is over", function()
  local request = loop:perform(nothing)
  request:cancel()
  return why(request)
end, "perform (made at @): it was performed or cancelled")

row("a task in another mode", function()
  local task = loop:task({ name = "job", modes = "a" }, function() ml.sleep(1) end)
  local text = inside(function() return why(task) end)
  task:cancel()
  loop:run { mode = "a", timeout = 1 }
  return text
end, "task 'job' (made at @): it begins in the next pass; the loop runs in mode 'default', but it "
  .. "goes on in a")

row("a task that waits for one that waits", function()
  local channel = ml.channel { capacity = 1, name = "jobs" }
  local first = loop:task({ name = "first" }, function() channel:receive() end)
  local second = loop:task({ name = "second" }, function() first:await() end)
  local text = inside(function() return why(second) end)
  channel:close()
  loop:run { timeout = 1 }
  return text
end, "task 'second' (made at @): it waits for task 'first' (made at @) (@), which waits to "
  .. "receive from channel 'jobs' (made at @) (@)")

row("a task that has failed", function()
  loop.on_error = nothing
  local task = loop:task({ name = "job" }, function() error("no luck", 0) end)
  loop:run()
  loop.on_error = nil
  return why(task)
end, "task 'job' (made at @): it has failed: no luck")

row("a channel that is full", function()
  local channel = ml.channel { capacity = 1, name = "jobs" }
  local task = loop:task(function() channel:send(1) channel:send(2) end)
  local text = inside(function() return why(channel) end)
  channel:close()
  loop:run { timeout = 1 }
  assert(task:is_done())
  return text
end, "channel 'jobs' (made at @): it is full (1 of 1) and no task is receiving; 1 task "
  .. "waits to send")

row("a permit that nobody gives back", function()
  local gate = ml.semaphore { permits = 1, name = "gate" }
  local holder = gate:try_acquire()
  loop:task(function() gate:acquire() end)
  local text = inside(function() return why(gate) end)
  holder:release()
  loop:run { timeout = 1 }
  return text
end, "semaphore 'gate' (made at @): all 1 permits are taken; 1 task waits: release one, or take "
  .. "permits with <close>")

assert(told == 29, told)
