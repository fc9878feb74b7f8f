-- What `loop:why` says about limits, wall clocks, signals, servers and streams (D37): a row plants
-- a mistake, with the whole sentence. "@" stands for file and line, "#" for other numbers.
local ml = require "moonloop"
local loop = ml.current()
local told = 0

local function why(handle)
  return (loop:why(handle):gsub("[%w_/.-]*causes_%a*%.lua:%d+", "@"):gsub("%d[%d.]*", "#"))
end

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
  for place = #made, 1, -1 do made[place]:invalidate() end
  assert(got == sentence, ("\n%s:\n  %s\n  %s"):format(name, got, sentence))
  told = told + 1
end

local function nothing() end

-- ── limits ──────────────────────────────────────────────────────────────────────────────────────

-- Asks after a handler has exceeded a limit.
local function limited(keep, limit, beyond, handler)
  loop.on_error = nothing
  ml.limit(limit)
  local timer = keep(loop:timer { every = 60, first = 1, name = "t", handler })
  loop:run { timeout = 2 }
  ml.limit(beyond)
  loop.on_error = nil
  return inside(function() return why(timer) end)
end

local stopped = "timer 't' (made at @): due in # s; virtual time stands still while the loop is "
  .. "busy, and jumps ahead when it is idle; its handler "

row("the limit of time", function(keep)
  return limited(keep, { callout = 0.02 }, { callout = 1000 }, function() while true do end end)
end, stopped .. "was stopped by a limit: call-out took longer than # seconds")

row("the limit of instructions", function(keep)
  return limited(keep, { instructions = 20000 }, { instructions = 1 << 30 }, function()
    while true do end
  end)
end, stopped .. "was stopped by a limit: call-out took more than # instructions")

row("the limit of memory", function(keep)
  return limited(keep, { memory = 4 << 20 }, { memory = 1 << 30 }, function()
    local list = {}
    for place = 1, 1e8 do list[place] = {} end
  end)
end, stopped .. "was stopped by a limit: memory limit of # bytes exceeded")

row("the limit of nested runs", function(keep)
  return limited(keep, {}, { nesting = 32 }, function()
    ml.limit { nesting = 2 }
    local _, message = pcall(loop.run, loop, "other")
    ml.limit { nesting = 32 }
    error(message, 0)
  end)
end, stopped .. "failed # times, the last: loop:run: runs and calls are nested # deep; "
  .. "the limit is # (@); let handlers return, or raise it: ml.limit { nesting = # }")

row("the limit of handles", function(keep)
  return limited(keep, {}, {}, function()
    ml.limit { handles = 1 }
    local done, message
    repeat done, message = pcall(loop.after, loop, 0.1, nothing) until not done
    ml.limit { handles = 1000 }
    error(message, 0)
  end)
end, stopped .. "failed # times, the last: loop:after: the limit of # timers is reached; see "
  .. "ml.limit (@)")

-- ── wall clocks ─────────────────────────────────────────────────────────────────────────────────

row("a date of the wall clock", function(keep)
  local timer = keep(loop:at(ml.wall_time() + 500, nothing))
  return inside(function() return why(timer) end)
end, "timer (made at @): due in # s, by the wall clock")

row("a date of the wall clock that is past", function(keep)
  return why(keep(loop:at(ml.wall_time() - 3600, nothing)))
end, "timer (made at @): the loop does not run; it can fire once it runs in default (due # s "
  .. "ago); this script runs its loop by itself, so call loop:run() again")

-- ── signals ─────────────────────────────────────────────────────────────────────────────────────

row("no signal has come", function(keep)
  local signal = keep(loop:signal("usr1", nothing))
  return inside(function() return why(signal) end)
end, "signal 'usr#' (made at @): no usr# has come")

row("a signal in another mode", function(keep)
  local signal = keep(loop:signal { "usr1", nothing, modes = "a" })
  return inside(function() return why(signal) end)
end, "signal 'usr#' (made at @): the loop runs in mode 'default', but it is in a; add it to "
  .. "'default' too, or run 'a'")

-- ── files and descriptors ───────────────────────────────────────────────────────────────────────

row("a watch of what is not there", function(keep)
  local watch = keep(assert(loop:watch { "/nowhere/at/all", name = "w", nothing }))
  return inside(function() return why(watch) end)
end, "watch 'w' (made at @): there is nothing at /nowhere/at/all yet; its handler is "
  .. "called when it appears")

row("a descriptor that was closed while it was watched", function(keep)
  local from, to = pipe()
  local fd = loop:fd { fd = from, name = "in", read = nothing }
  close(from)
  loop.on_error = nothing
  local text = inside(function() return why(fd) end)
  loop.on_error = nil
  close(to)
  return (text:gsub("failed .-, the last", "failed once"))
end, "fd 'in' (made at @): it has ended; make a new one; its handler failed once: descriptor # was "
  .. "closed while it was watched: Bad file descriptor (EBADF); invalidate the handle before "
  .. "closing the descriptor")

-- ── servers ─────────────────────────────────────────────────────────────────────────────────────

local path = (os.getenv "TMPDIR" or "/tmp") .. ("/moonloop-causes-%d"):format(ml.process.id())

row("no client has come", function(keep)
  local server = keep(assert(ml.net.listen { path = path, name = "s", nothing }))
  return inside(function() return why(server) end)
end, "server 's' (made at @): no client has come")

row("a server that nobody accepts from", function(keep)
  local server = keep(assert(ml.net.listen { path = path, name = "s" }))
  return inside(function() return why(server) end)
end, "server 's' (made at @): it has no handler, and no task is waiting in server:accept()")

row("a server with as many connections as it may have", function(keep)
  local server = keep(assert(ml.net.listen { path = path, name = "s", max_connections = 1,
    function(stream) stream:read "l" end }))
  loop:task(function() keep(assert(ml.net.connect { path = path })) end)
  return inside(function() return why(server) end)
end, "server 's' (made at @): # connections are open, which is the limit; more are "
  .. "accepted when one is closed")

row("no datagram has come", function(keep)
  local socket = keep(assert(ml.net.udp { host = "127.0.0.1", port = 0, name = "u" }))
  local reader = keep(loop:task(function() socket:receive() end))
  return inside(function() return why(socket) end)
end, "socket 'u' (made at @): no datagram has arrived that a task is waiting for")

-- ── streams ─────────────────────────────────────────────────────────────────────────────────────

row("a peer that sends nothing", function(keep)
  local from, to = pipe()
  local stream = keep(ml.stream { fd = from, name = "in" })
  keep(loop:task({ name = "reader" }, function() stream:read "l" end))
  local text = inside(function() return why(stream) end)
  close(to)
  return text
end, "stream 'in' (made at @): task 'reader' (made at @) waits for a line of stream 'in', and the "
  .. "other side has sent nothing")

row("a peer that has sent a part of a line", function(keep)
  local from, to = pipe()
  local stream = keep(ml.stream { fd = from, name = "in" })
  keep(loop:task({ name = "reader" }, function() stream:read "l" end))
  write(to, "no newline")
  local text = inside(function() return why(stream) end)
  close(to)
  return text
end, "stream 'in' (made at @): task 'reader' (made at @) waits for a line of stream 'in', and the "
  .. "other side has sent nothing more")

row("a peer that does not read", function(keep)
  local from, to = pipe()
  local stream = keep(ml.stream { fd = to, name = "out" })
  keep(loop:task({ name = "writer" }, function() stream:write(("x"):rep(1 << 20)) end))
  local text = inside(function() return why(stream) end)
  close(from)
  return text
end, "stream 'out' (made at @): task 'writer' (made at @) waits for space in stream 'out'; # bytes "
  .. "are queued: there is no room, because the other side does not read")

row("no task reads", function(keep)
  local from, to = pipe()
  local stream = keep(ml.stream { fd = from, name = "in" })
  write(to, "something")
  local text = inside(function() return why(stream) end)
  close(to)
  return text
end, "stream 'in' (made at @): no task is reading or writing it")

row("a stream that is read in another mode", function(keep)
  local from, to = pipe()
  local stream = keep(ml.stream { fd = from, name = "in", modes = "a" })
  keep(loop:task({ name = "reader", modes = "a" }, function() stream:read "l" end))
  loop:run { mode = "a", timeout = 1 }
  local text = inside(function() return why(stream) end)
  close(to)
  return text
end, "stream 'in' (made at @): task 'reader' (made at @) waits for a line of stream 'in', and the "
  .. "other side has sent nothing; the loop runs in mode 'default', but it is served in a")

assert(told == 20, told)
-- What was cancelled comes to its end.
loop:run { timeout = 1 }
loop:run { mode = "a", timeout = 1 }
