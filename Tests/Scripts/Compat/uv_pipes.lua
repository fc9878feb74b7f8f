-- luv's pipes, UDP handles, processes, signals, polls and watches: real ones, event by event.
local uv = require "moonloop.compat.uv"

local trace = {}
local function note(...) trace[#trace + 1] = table.concat({ ... }, " ") end
local function is(expected)
  local given = table.concat(trace, "; ")
  assert(given == expected, given)
  trace = {}
end

-- A named pipe: its file comes and goes with the listener.
local path = os.tmpname()
os.remove(path)
local server, client = uv.new_pipe(false), uv.new_pipe(false)
assert(server:bind(path) == 0 and server:getsockname() == path)
assert(server:chmod "rw" == 0)
server:listen(1, function()
  local peer = uv.new_pipe(false)
  server:accept(peer)
  peer:read_start(function(_, data)
    note("peer", data or "end")
    if not data then peer:close(); server:close() end
  end)
end)
client:connect(path, function(err)
  note("connect", err or "well")
  client:write "over the pipe"
  client:close()
end)
uv.run()
is "connect well; peer over the pipe; peer end"
assert(not io.open(path))
client = uv.new_pipe(false)
client:connect(path, function(err) note(err); client:close() end)
uv.run()
is "ENOENT"
client = uv.new_pipe(false)
client:connect(path, note)
client:close(function() note "closed" end)
uv.run()
is "ECANCELED; closed"

-- A handle is passed over a pipe.
local fds = assert(uv.socketpair())
local sender, receiver, passed = uv.new_pipe(true), uv.new_pipe(true), uv.new_pipe(false)
sender:open(fds[1])
receiver:open(fds[2])
local ends = assert(uv.pipe())
passed:open(ends.write)
receiver:read_start(function(_, data)
  note(data, receiver:pending_count(), receiver:pending_type())
  local got = uv.new_pipe(false)
  receiver:accept(got)
  got:write("through", function()
    for _, handle in ipairs { got, sender, receiver, passed } do handle:close() end
  end)
end)
sender:write2("take it", passed)
uv.run()
is "take it 1 pipe"
local reader = uv.new_pipe(false)
reader:open(ends.read)
reader:read_start(function(_, data) note(data or "end"); if not data then reader:close() end end)
uv.run()
is "through; end"

-- Datagrams.
local one, two = uv.new_udp(), uv.new_udp()
one:bind("127.0.0.1", 0)
local port = one:getsockname().port
one:recv_start(function(err, data, from, flags)
  assert(not err and from.ip == "127.0.0.1" and type(flags) == "table")
  note(data)
  if data == "last" then one:close(); two:close() end
end)
two:send({ "fir", "st" }, "127.0.0.1", port, function(err)
  assert(not err, err)
  assert(two:connect("127.0.0.1", port) == 0 and two:getpeername().port == port)
  assert(select(3, two:try_send("no", "127.0.0.1", port)) == "EISCONN")
  assert(two:try_send("last", nil, nil) == 4)
end)
uv.run()
is "first; last"

-- A child with pipes, its environment and its folder; one that is killed; one that is not there.
local stdin, stdout = uv.new_pipe(false), uv.new_pipe(false)
local child, pid = uv.spawn("sh", { args = { "-c", "cat; echo $GREETING; pwd; exit 3" }, cwd = "/",
  env = { "GREETING=hello", "PATH=/usr/bin:/bin" }, stdio = { stdin, stdout, nil } },
  function(code, signal) note("exit", code, signal) end)
assert(child:get_pid() == pid and child:is_active())
local output = {}
stdout:read_start(function(_, data)
  if data then output[#output + 1] = data else stdout:close() end
end)
stdin:write("typed\n")
stdin:shutdown(function() stdin:close() end)
uv.run()
is "exit 3 0"
assert(table.concat(output) == "typed\nhello\n/\n", table.concat(output))
child:close()
child = uv.spawn("sleep", { args = { 100 } }, function(code, signal) note("exit", code, signal) end)
assert(uv.process_kill(child, "sigterm") == 0)
uv.run()
is "exit 0 15"
assert(select(3, child:kill()) == "ESRCH")
child:close()
uv.run()
local none, message, code = uv.spawn("there-is-no-such-program", {}, print)
assert(none == nil and message == "ENOENT: no such file or directory" and code == "ENOENT")
assert(not pcall(uv.spawn, "ls", { gid = false }))
uv.run()

-- Signals by luv's names, also once.
local signal = uv.new_signal()
signal:start_oneshot("sigusr1", function(name) note(name, tostring(signal:is_active())) end)
uv.kill(uv.os_getpid(), "sigusr1")
uv.run()
is "sigusr1 false"
assert(not pcall(signal.start, signal, "sigwhat", print))
assert(select(3, signal:start("sigkill", print)) == "EINVAL")
signal:close()
uv.run()

-- Readiness of a foreign descriptor, both directions in one call.
fds = assert(uv.socketpair())
local poll = uv.new_poll(fds[1])
assert(uv.fs_write(fds[2], "x") == 1)
poll:start("rw", function(err, events)
  note(err or "well", events)
  poll:close()
end)
uv.run()
is "well rw"
assert(uv.fs_close(fds[1]) and uv.fs_close(fds[2]))

-- A folder that changes.
local folder = os.tmpname()
os.remove(folder)
local function run(program, ...)
  local code
  local handle
  handle = uv.spawn(program, { args = { ... } }, function(status) code = status; handle:close() end)
  uv.run()
  assert(code == 0)
end
run("mkdir", folder)
local watch = uv.new_fs_event()
assert(watch:start(folder, {}, function(err, name, events)
  note(err or "well", name, events.rename and "rename" or "change")
  watch:close()
end) == 0)
assert(watch:getpath() == folder)
io.open(folder .. "/fresh", "w"):close()
uv.run()
is "well fresh rename"
assert(select(3, uv.new_fs_event():start(folder .. "/nothing", {}, print)) == "ENOENT")
run("rm", "-r", folder)

-- Names, at once and by a callback.
local list = assert(uv.getaddrinfo("127.0.0.1", "80", { socktype = "stream" }))
assert(#list == 1 and list[1].addr == "127.0.0.1" and list[1].port == 80
  and list[1].family == "inet" and list[1].protocol == "tcp")
uv.getaddrinfo("127.0.0.1", nil, nil, function(err, found) note(err or "well", #found) end)
uv.run()
is "well 3"
assert(select(3, uv.getaddrinfo(nil, nil)) == "EINVAL")

-- What luv reports about the process.
assert(uv.guess_handle(ends.read) ~= nil and uv.version() == 0x012c02)
local here = uv.cwd()
assert(uv.chdir "/" == 0 and uv.cwd() == "/" and uv.chdir(here) == 0)
assert(select(3, uv.chdir "/no/such/folder") == "ENOENT")
uv.os_setenv("MOONLOOP_UV_TEST", "set")
assert(uv.os_getenv "MOONLOOP_UV_TEST" == "set" and uv.os_environ().MOONLOOP_UV_TEST == "set")
uv.os_unsetenv "MOONLOOP_UV_TEST"
assert(select(3, uv.os_getenv "MOONLOOP_UV_TEST") == "ENOENT")
uv.walk(function(handle) if not handle:is_closing() then handle:close() end end)
uv.run()
