-- Every mistake has its message: what, where, what to do.
local ml = require "moonloop"
local loop = ml.current()
local from, to = pipe()
local directory = open_file "/"
local closed = 1000003  -- beyond what a process may have, so that no other thread opens it
local source = ml.source { name = "s", perform = print }
local fd = ml.fd { fd = from, name = "in", read = print }
local port = ml.port { name = "p" }
local ended = ml.source { name = "gone", perform = print }
ended:invalidate()
local activities = "entry, before_timers, before_sources, before_waiting, after_waiting, exit"

local function mistakes(rows)
  for _, row in ipairs(rows) do
    local ok, message = pcall(row[1])
    assert(not ok, row[2])
    message = message:gsub(" %(%S*messages.lua:%d+%)", ""):gsub(" at %S+messages.lua:%d+", "")
    assert(message == row[2], "\n" .. message .. "\n" .. row[2])
  end
end

mistakes {
  { function() loop:source { } end,
    "loop:source: the handler is missing: give a function as the first element of the table" },
  { function() loop:source { perform = 1 } end,
    "loop:source: 'perform' must be a function, got 1" },
  { function() loop:source { perfrom = print } end,
    "loop:source: unknown option 'perfrom'; did you mean 'perform'?" },
  { function() loop:source { print, order = 1.5 } end,
    "loop:source: 'order' must be a whole number, got 1.5" },
  { function() loop:source { print, modes = 1 } end,
    "loop:source: 'modes' must be the name of a mode or a list, got 1" },
  { function() loop:source { print, modes = {} } end,
    "loop:source: 'modes' must name at least one mode, got an empty table" },
  { function() loop:timer { every = 1, modes = "", print } end,
    "loop:timer: 'modes' must be the name of a mode or a list, got \"\"" },
  { function() loop:source { print, modes = { "a", "" } } end,
    "loop:source: 'modes' must hold names of modes, got \"\"" },
  { function() loop:run "" end, "loop:run: the mode must be the name of a mode, got \"\"" },
  { function() loop:run { mode = "" } end,
    "loop:run: 'mode' must be the name of a mode, got \"\"" },
  { function() loop:add_common_mode "" end,
    "loop:add_common_mode: the mode must be the name of a mode, got \"\"" },
  { function() loop:add_common_mode "common" end,
    "loop:add_common_mode: 'common' is the set itself; name a mode to be in it" },
  { function() loop:task(print):wait { mode = "" } end,
    "task:wait: 'mode' must be the name of a mode, got \"\"" },
  { function() port:request(1, { mode = "" }) end,
    "port:request: 'mode' must be the name of a mode, got \"\"" },
  { function() ml.guest { text = "", limits = { memory = "8MB" } } end,
    "ml.guest: 'memory' must be a size of at least 1M, such as \"64M\", got \"8MB\"; "
      .. 'write "8M"' },
  { function() ml.guest { text = "", allow = { "net=80" } } end,
    "ml.guest: 'allow': 'net=80': must be HOST, HOST:PORT, HOST:FIRST-LAST or unix:PATH; "
      .. "the host may be *; did you mean 'net=*:80'?" },
  { function() ml.guest { text = "", limits = { mem = "8M" } } end,
    "ml.guest: unknown option 'limits.mem'; the options are memory, callout, callouts, cpu, "
      .. "instructions, handles, share, output, wakes, messages, log_lines" },
  { function() ml.guest { text = "", limits = { memroy = "8M" } } end,
    "ml.guest: unknown option 'limits.memroy'; did you mean 'memory'?" },
  { function() ml.guest { "x.lua" } end,
    'ml.guest: unknown element [1]; write file = "x.lua"' },
  { function() ml.guest { } end, "ml.guest: needs a script: 'file' or 'text'" },
  { function() loop:signal("SIGTREM", print) end,
    'loop:signal: unknown signal "SIGTREM"; did you mean "term"?' },
  { function() loop:signal("Usr3", print) end,
    'loop:signal: unknown signal "Usr3"; did you mean "usr1"?' },
  { function() return ml.fs.exists end, "ml.fs: unknown field 'exists'; did you mean 'stat'?" },
  { function() return ml.fs.unlink end, "ml.fs: unknown field 'unlink'; did you mean 'remove'?" },
  { function() return ml.fs.tsat end, "ml.fs: unknown field 'tsat'; did you mean 'stat'?" },
  { function() return ml.process.exec end,
    "ml.process: unknown field 'exec'; did you mean 'run'?" },
  { function() ml.source { print, modes = "x" } end,
    "ml.source: 'modes' is for loop:source; give the modes to loop:add" },
  { function() loop.source { print } end,
    "loop:source: must be called with a colon; got a table for the loop" },
  { function() loop:source { print, name = ("x"):rep(1001) } end,
    "loop:source: 'name' must be at most 1000 bytes, got 1001" },
  { function() loop:timer { every = 1, name = ("x"):rep(1001), print } end,
    "loop:timer: 'name' must be at most 1000 bytes, got 1001" },
  { function() loop:task({ name = ("x"):rep(1001) }, print) end,
    "loop:task: 'name' must be at most 1000 bytes, got 1001" },
  { function() ml.channel { name = ("x"):rep(1001) } end,
    "ml.channel: 'name' must be at most 1000 bytes, got 1001" },
  { function() ml.source { print, identity = ("x"):rep(1001) } end,
    "ml.source: 'identity' must be at most 1000 bytes, got 1001" },
  { function() source.signal() end,
    "source:signal: must be called with a colon; got no value for the source" },
  { function() ended:signal() end,
    "source:signal: source 'gone' (made) was invalidated; make a new one" },
  { function() loop:add(ended) end,
    "loop:add: source 'gone' (made) was invalidated; make a new one" },
  { function() loop:add(12) end, "loop:add: takes a timer, source, fd, observer or port, got 12" },
  { function() loop:add(source, 5) end,
    "loop:add: the modes must be the name of a mode or a list, got 5" },
  { function() source:keep_alive "x" end, 'source:keep_alive: takes true or false, got "x"' },
  { function() source.on_error = 5 end, "source.on_error: the handler must be a function, got 5" },
  { function() return source.sginal end,
    "source: unknown field 'sginal'; did you mean 'signal'?" },
  { function() loop:observer { on = "sleep", print } end,
    "loop:observer: 'on': unknown activity \"sleep\"; use one of " .. activities },
  { function() loop:observer { on = { "exit", "before_wating" }, print } end,
    "loop:observer: 'on': unknown activity \"before_wating\"; did you mean 'before_waiting'?" },
  { function() loop:observer { print } end,
    "loop:observer: needs 'on', the activities to observe; use one of " .. activities
      .. ", or a list" },
  { function() loop:observer { on = "exit" } end,
    "loop:observer: the handler is missing: give a function as the first element of the table" },
  { function() loop:fd { read = print } end,
    "loop:fd: needs 'fd', the number of an open descriptor" },
  { function() loop:fd { fd = -1, read = print } end,
    "loop:fd: 'fd' must be a whole number from 0 to 2147483647, got -1" },
  { function() loop:fd { fd = 2 ^ 31, read = print } end,
    "loop:fd: 'fd' must be a whole number from 0 to 2147483647, got 2147483648" },
  { function() loop:fd { fd = to } end, "loop:fd: needs a handler: 'read', 'write' or both" },
  { function() fd:enable "write" end,
    "fd:enable: there is no 'write' handler to call for it" },
  { function() fd:enable "raed" end,
    'fd:enable: unknown event "raed"; use "read", "write" or a list' },
  { function() fd:read "x" end,
    'fd:read: unknown format "x"; use a number of bytes, "l", "L" or "a"' },
  { function() fd:read(-1) end,
    "fd:read: the number of bytes must be a whole number >= 0, got -1" },
  { function() fd:write {} end, "fd:write: argument 1 must be a string, got a table" },
  { function() loop:perform() end, "loop:perform: takes a function, got no value" },
  { function() loop:perform({ mode = "x" }, print) end,
    "loop:perform: unknown option 'mode'; did you mean 'modes'?" },
  { function() loop:after(1, print, "late") end,
    "loop:after: takes no arguments for the handler; use loop:perform_after" },
  { function() loop:every(1, print, "late") end,
    "loop:every: takes no arguments for the handler; use function() … end" },
  { function() loop:perform_after(0 / 0, print) end,
    "loop:perform_after: the delay must be seconds, a number >= 0, got nan" },
  { function() loop:perform_after(-1, print) end,
    "loop:perform_after: the delay must be seconds, a number >= 0, got -1" },
  { function() loop:port { capacity = 0 } end,
    "loop:port: 'capacity' must be a whole number from 1 to 16777216, got 0" },
  { function() port:send { items = { 1, 2, { callback = print } } } end,
    "port:send: message.items[3].callback is a function, which cannot be sent" },
  { function() port:send { ["a b"] = { [true] = coroutine.create(print) } } end,
    'port:send: message["a b"][true] is a thread, which cannot be sent' },
  { function() port:send(loop) end, "port:send: message is a loop, which cannot be sent" },
  { function() port:send { [print] = 1 } end,
    "port:send: a key in message is a function, which cannot be sent" },
  { function() port:on("messages", print) end, 'port:on: unknown event "messages"; use "message"' },
  { function() port:request(1, { mode = "common" }) end,
    "port:request: 'common' is a set of modes; name one mode, such as 'default'" },
}

-- The same descriptor twice in a mode is a mistake; failures of the system are values.
local first = loop:fd { fd = to, name = "out", write = print }
mistakes { { function() loop:fd { fd = to, write = print } end,
  "loop:fd: descriptor " .. to .. " is watched already by descriptor 'out'; use one source for "
    .. "both directions" } }
local none, message, code = loop:fd { fd = closed, read = print }
assert(none == nil and code == "EBADF" and message == "loop:fd: descriptor " .. closed
  .. " cannot be watched: Bad file descriptor (EBADF)", message)
none, message, code = loop:fd { fd = directory, read = print }
assert(none == nil and code == "EISDIR" and message:find "Is a directory", message)
for _, handle in ipairs { source, fd, port, first } do handle:invalidate() end
close(from) close(to) close(directory)
