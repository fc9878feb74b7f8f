-- Why a handle is not called, as text (D37).
local ml = require "moonloop"
local loop = ml.current()
local rows = 0
local function why(handle, expected)
  local text = loop:why(handle):gsub(" %(made at %S+%)", ""):gsub(" at %S+why.lua:%d+", "")
    :gsub(" %(%S+why.lua:%d+%)", "")
  rows = rows + 1
  assert(text == expected, "\n" .. text .. "\n" .. expected)
end

why(nil, "mode 'default': nothing would keep it running")
local source = ml.source { name = "s", perform = print }
why(source, "source 's': it was not added to a mode, or was removed; use loop:add")
loop:add(source, "other")
why(source, "source 's': the loop does not run; it can be called once it runs in other; call "
  .. "loop:run { mode = \"other\" }")
source:signal()
why(source, "source 's': the loop does not run; it can be called once it runs in other; call "
  .. "loop:run { mode = \"other\" }; it is signalled, and stays so")
local far = loop:after(9e9, print)
local timer = loop:timer { every = 5, name = "poll", modes = { "a", "b" }, print }
local observer = loop:observer { on = { "exit" }, name = "o", print }
local port = ml.port { name = "p" }
local from, to = pipe()
local fd = loop:fd { fd = from, name = "in", read = function() end }
local waiting = loop:source { name = "w", function() ml.sleep(100) end }
waiting:signal()
local request = loop:perform_after({ after = 1, modes = "a" }, print)

loop:after(1, function(inner)
  why(timer, "timer 'poll': the loop runs in mode 'default', but it is in a, b (due in 4 s); "
    .. "add it to 'default' too, or run 'a'")
  why(far, "timer: its date is far in the future: due in 285 years; times are seconds, and "
    .. "next_fire counts as ml.now() does")
  why(inner, "timer: its handler is running; it does not fire from within itself")
  why(observer, "observer 'o': it observes exit; "
    .. "it is called when a run in one of its modes gets there")
  why(fd, "fd 'in': there is nothing to read")
  fd:disable "read"
  why(fd, "fd 'in': none of its events is enabled; use enable")
  fd:enable "read"
  write(to, "x")
  why(fd, "fd 'in': it is ready to read: the handler of timer runs now, then it is served")
  loop:add(port)
  why(port, "port 'p': it has no handler, 0 messages wait; use port:on")
  port:on("message", print)
  why(port, "port 'p': no message waits in it")
  port:send(1)
  why(port, "port 'p': 1 message waits: the handler of timer runs now, then it is served")
  port:send(2)
  why(port, "port 'p': 2 messages wait: the handler of timer runs now, then they are served, one "
    .. "a pass")
  why(waiting, "source 'w': its handler waits for a sleep of 100.0 s; nothing is delivered until "
    .. "it returns")
  why(request, "perform_after: the loop runs in mode 'default', but it is in a; add it to "
    .. "'default' too, or run 'a'")
  loop:add(source)
  source:invalidate()
  why(source, "source 's': it was invalidated; make a new one")
  loop:stop()
end)
assert(loop:run { timeout = 1000 } == "stopped")
for _, handle in ipairs { far, timer, observer, port, fd, request } do handle:invalidate() end
why(far, "timer: it was invalidated (the place is known only for named items); make a new one")
why(request, "perform_after: it was performed or cancelled")
waiting:invalidate()
loop:run { timeout = 1000 }
close(from) close(to)

-- A one-shot timer stays in its mode until its handler has returned, so a run inside the handler
-- does not finish by itself. One that only resumes a task holds nothing.
local firing = "mode 'default': 1 keeps it running:\n  timer, whose handler is running: it "
  .. "cannot fire again, but stays in the mode until the handler returns, so a run started there "
  .. "%s not finish by itself; set a timeout, stop it, or run another mode"
loop:after(1, function()
  why(nil, firing:format "would")
  loop:perform(function() why(nil, firing:format "does") end)
  assert(loop:run { timeout = 1 } == "timed_out")
end)
loop:run { timeout = 1000 }
loop:task(function()
  ml.sleep(1)
  why(nil, "mode 'default': nothing keeps it running")
  assert(loop:dump():find "waits for its own call to return")
  assert(loop:run { timeout = 1 } == "finished")
end)
loop:run { timeout = 1000 }
loop.on_error = function() end
loop:task(error, "x")
local failing = loop:task(error, "x")
loop:task(function()
  why(nil, "mode 'default': 1 keeps it running:\n  the failure of task, to be reported now")
  assert(failing:is_done())
end)
loop:run { timeout = 1000 }
loop.on_error = nil
assert(rows == 24, rows)
