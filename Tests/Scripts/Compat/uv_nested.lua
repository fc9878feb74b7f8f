-- A run in a callback of any kind serves what is left and returns, as with luv on stock Lua: what
-- is being served does not hold it, nor what has begun to close before.
local uv = require "moonloop.compat.uv"

local folder = assert(uv.fs_mkdtemp "/tmp/moonloop-XXXXXX")
local kinds = {}
local plain = {}  -- descriptors that no handle owns

-- Each makes one callback of its kind happen, which calls `called` with the open handles.

function kinds.timer(called)
  local timer = uv.new_timer()
  timer:start(1, 0, function() called(timer) end)
end
function kinds.repeating(called)
  local timer = uv.new_timer()
  timer:start(1, 1, function() called(timer) end)
end
-- An idle handle keeps the loop from sleeping, and a virtual clock from moving.
local function pass_time() uv.sleep(1) end
for _, stage in ipairs { "idle", "prepare", "check" } do
  kinds[stage] = function(called)
    local handle, busy = uv["new_" .. stage](), uv.new_idle()
    busy:start(pass_time)
    handle:start(function() called(handle, busy) end)
  end
end
function kinds.async(called)
  local async
  async = uv.new_async(function() called(async) end)
  async:send()
end
for _, start in ipairs { "start", "start_oneshot" } do
  kinds["signal " .. start] = function(called)
    local signal = uv.new_signal()
    signal[start](signal, "sigusr1", function() called(signal) end)
    uv.kill(uv.os_getpid(), "sigusr1")
  end
end
function kinds.exit(called)
  local child
  child = uv.spawn("true", {}, function() called(child) end)
end

-- Requests.
function kinds.getaddrinfo(called) uv.getaddrinfo("localhost", nil, {}, function() called() end) end
function kinds.getnameinfo(called)
  uv.getnameinfo({ ip = "127.0.0.1" }, function() called() end)
end
function kinds.work(called)
  uv.new_work(function(value) return value end, function() called() end):queue(1)
end
function kinds.random(called) uv.random(4, 0, function() called() end) end

-- Files.
for name, arguments in pairs { stat = { folder }, lstat = { "/nothing" }, realpath = { folder },
  access = { folder, "r" }, scandir = { folder }, opendir = { folder }, statfs = { folder },
  mkdtemp = { folder .. "/XXXXXX" }, unlink = { "/nothing" }, chmod = { folder, 448 } } do
  kinds["fs_" .. name] = function(called)
    local all = { table.unpack(arguments) }
    all[#all + 1] = function() called() end
    uv["fs_" .. name](table.unpack(all))
  end
end
function kinds.fs_readdir(called)
  local dir = uv.fs_opendir(folder)
  dir:readdir(function() dir:closedir(function() called() end) end)
end
for name, arguments in pairs { read = { 5, 0 }, write = { "x", 0 }, fstat = {}, fsync = {},
  ftruncate = { 0 } } do
  kinds["fs_" .. name] = function(called)
    local fd = uv.fs_open(folder .. "/file", "w+", 420)
    local all = { fd, table.unpack(arguments) }
    all[#all + 1] = function() uv.fs_close(fd, function() called() end) end
    uv["fs_" .. name](table.unpack(all))
  end
end
local function set(text)
  local fd = uv.fs_open(folder .. "/watched", "w", 420)
  uv.fs_write(fd, text)
  uv.fs_close(fd)
end
function kinds.fs_event(called)
  local event = uv.new_fs_event()
  set "a"
  event:start(folder .. "/watched", {}, function() called(event) end)
  set "ab"
end
function kinds.fs_poll(called)
  local poll, later = uv.new_fs_poll(), uv.new_timer()
  set "a"
  poll:start(folder .. "/watched", 10, function() called(poll) end)
  later:start(30, 0, function()
    later:close()
    set "abc"
  end)
end

-- Streams.
local function pair(kind)
  local fds = uv.socketpair()
  local one, other = uv["new_" .. kind](), uv["new_" .. kind]()
  one:open(fds[1])
  other:open(fds[2])
  return one, other
end
for _, kind in ipairs { "tcp", "pipe" } do
  kinds[kind .. " read"] = function(called)
    local one, other = pair(kind)
    one:read_start(function() called(one, other) end)
    other:write "x"
  end
  kinds[kind .. " end"] = function(called)
    local one, other = pair(kind)
    one:read_start(function() called(one, other) end)
    other:shutdown()
  end
  kinds[kind .. " write"] = function(called)
    local one, other = pair(kind)
    one:write("x", function() called(one, other) end)
  end
  kinds[kind .. " write, canceled"] = function(called)
    local one, other = pair(kind)
    one:write(("x"):rep(10000000), function() called(other) end)
    one:close()
  end
  kinds[kind .. " shutdown"] = function(called)
    local one, other = pair(kind)
    one:shutdown(function() called(one, other) end)
  end
  -- `which` is the side that calls.
  for _, which in ipairs { "connect", "connection", "connect, canceled" } do
    kinds[kind .. " " .. which] = function(called)
      local server, client, path = uv["new_" .. kind](), uv["new_" .. kind](), folder .. "/socket"
      if kind == "tcp" then server:bind("127.0.0.1", 0) else server:bind(path) end
      server:listen(1, function()
        local peer = uv["new_" .. kind]()
        server:accept(peer)
        if which == "connection" then called(peer, server, client) else peer:close() end
      end)
      local function connected()
        if which ~= "connection" then called(server, client) end
      end
      if kind == "tcp" then client:connect("127.0.0.1", server:getsockname().port, connected)
      else client:connect(path, connected) end
      if which == "connect, canceled" then client:close() end
    end
  end
end
function kinds.poll(called)
  local fds, other = uv.socketpair(), uv.new_tcp()
  local poll = uv.new_poll(fds[1])
  plain[#plain + 1] = fds[1]
  other:open(fds[2])
  poll:start("r", function()
    uv.fs_read(fds[1], 1)
    called(poll, other)
  end)
  other:try_write "x"
end
for _, way in ipairs { "receive", "send" } do
  kinds["udp " .. way] = function(called)
    local udp = uv.new_udp()
    local function ready() called(udp) end
    udp:bind("127.0.0.1", 0)
    if way == "receive" then udp:recv_start(ready) end
    udp:send("x", "127.0.0.1", udp:getsockname().port, way == "send" and ready or nil)
  end
end

-- The closing of a handle of each class.
for class, make in pairs {
  timer = uv.new_timer, idle = uv.new_idle, prepare = uv.new_prepare, check = uv.new_check,
  signal = uv.new_signal, tcp = uv.new_tcp, pipe = uv.new_pipe, udp = uv.new_udp,
  fs_event = uv.new_fs_event, fs_poll = uv.new_fs_poll,
  async = function() return uv.new_async(function() end) end,
  poll = function()
    table.move(uv.socketpair(), 1, 2, #plain + 1, plain)
    return uv.new_poll(plain[#plain])
  end,
  tty = function()
    local ends = uv.pipe()
    plain[#plain + 1] = ends.write
    return uv.new_tty(ends.read, true)
  end,
  process = function() return (uv.spawn("true", {})) end,
} do
  kinds["close " .. class] = function(called)
    make():close(function() called() end)
  end
end

-- What the callback does --------------------------------------------------------------------------

local trace
local function note(text) trace[#trace + 1] = text end
local function run(mode) note("run " .. tostring(uv.run(mode))) end

local function close(handles, callback)
  for _, handle in ipairs(handles) do
    if not handle:is_closing() then handle:close(callback) end
  end
end

-- Calls once, from a timer that closes first.
local function later(name, body)
  local timer = uv.new_timer()
  timer:start(5, 0, function()
    timer:close(function() note(name .. " closed") end)
    body()
  end)
end

local ways = {
  { "closed before", "run false", function(handles)
    close(handles)
    run()
  end },
  { "not referenced", "run false", function(handles)
    for _, handle in ipairs(handles) do handle:unref() end
    run()
    close(handles)
  end },
  { "closed inside", "a; a closed; run false", function(handles)
    later("a", function()
      note "a"
      close(handles)
    end)
    run()
  end },
  { "three deep", "a; a closed; b; c; run false; b closed; run false; run false; run false",
    function(handles)
      later("a", function()
        note "a"
        later("b", function()
          note "b"
          close(handles)
          uv.new_timer():close(function()
            note "c"
            run()
          end)
          run()
        end)
        run()
      end)
      run()
    end },
  { "in its closing", nil, function(handles)
    close(handles, function() run() end)
    run()
  end },
  { "beside a closing", nil, function(handles)
    close(handles, function() run() end)
    run()
  end, function() uv.new_timer():close(function() run() end) end },
  { "once", "a; done", function(handles)
    close(handles)
    later("a", function() note "a" end)
    while uv.run "once" do end
    note "done"
  end },
  { "nowait", "done", function(handles)
    close(handles)
    while uv.run "nowait" do end
    note "done"
  end },
}

local names = {}
for name in pairs(kinds) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  for _, way in ipairs(ways) do
    local title, expected, act, before = table.unpack(way, 1, 4)
    trace = {}
    if before then before() end
    local is_called = false
    kinds[name](function(...)
      if is_called then return end
      is_called = true
      act { ... }
    end)
    assert(uv.run() == false)
    assert(is_called, name)
    local given = table.concat(trace, "; ")
    if title == "once" then given = given:gsub("a closed; ", "") end
    -- In these two the order is that of the system; each run has returned.
    if not expected then given, expected = given:gsub("run false;? ?", ""), "" end
    assert(given == expected, ("%s, %s: %s"):format(name, title, given))
    for place = #plain, 1, -1 do uv.fs_close(table.remove(plain, place)) end
  end
end

-- Inside its own callback a handle is served, too.
local function again(kind, body)
  local count, handles = 0, nil
  local function called()
    count = count + 1
    if count == 3 then return close(handles) end
    if count < 3 then handles.more() end
    assert(uv.run() == false, kind)
  end
  handles = body(called)
  assert(uv.run() == false and count == 3, kind)
end

again("repeating", function(called)
  local timer = uv.new_timer()
  timer:start(1, 1, called)
  return { timer, more = function() end }
end)
for _, stage in ipairs { "idle", "prepare", "check" } do
  again(stage, function(called)
    local handle, busy = uv["new_" .. stage](), uv.new_idle()
    busy:start(function() end)
    handle:start(called)
    return { handle, busy, more = function() end }
  end)
end
again("read", function(called)
  local one, other = pair "tcp"
  one:read_start(called)
  other:write "x"
  return { one, other, more = function() other:write "y" end }
end)

-- An error in a closing stage leaves the rest to the next pass.
local ml = require "moonloop"
trace = {}
local first = uv.new_timer()
uv.new_timer():close(function() note "last" end)
first:close(function() error "on purpose" end)
local before = ml.current().on_error
ml.current().on_error = function()
  note "error"
  return "continue"
end
uv.run()
ml.current().on_error = before
assert(table.concat(trace, "; ") == "error; last", table.concat(trace, "; "))

for name, kind in uv.fs_scandir_next, uv.fs_scandir(folder) do
  assert(uv[kind == "directory" and "fs_rmdir" or "fs_unlink"](folder .. "/" .. name))
end
assert(uv.fs_rmdir(folder))
