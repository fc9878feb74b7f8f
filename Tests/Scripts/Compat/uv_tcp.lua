-- luv's TCP handles: servers, clients, ends, resets, mistakes.
local uv = require "moonloop.compat.uv"

local trace = {}
local function note(...) trace[#trace + 1] = table.concat({ ... }, " ") end
local function is(expected)
  local given = table.concat(trace, "\n")
  assert(given == expected:gsub("\n +", "\n"):gsub("^ +", ""), given)
  trace = {}
end

local function listen(handler)
  local server = uv.new_tcp()
  assert(server:bind("127.0.0.1", 0) == 0)
  assert(server:listen(16, function(err)
    assert(not err, err)
    local client = uv.new_tcp()
    assert(server:accept(client) == 0)
    handler(client, server)
  end) == 0)
  local name = server:getsockname()
  assert(name.family == "inet" and name.ip == "127.0.0.1" and name.port > 0)
  return server, name.port
end

-- An echo, up to the end in both directions.
local server, port
server, port = listen(function(client, server)
  note "accepted"
  client:read_start(function(err, data)
    assert(not err, err)
    note("server", data or "end")
    if data then client:write { data:upper(), "!" } return end
    client:close(function() note "server side closed" end)
    server:close()
  end)
end)
local client = uv.new_tcp()
assert(client:connect("127.0.0.1", port, function(err)
  assert(not err, err)
  assert(client:getpeername().port == port)
  assert(client:is_readable() and client:is_writable())
  note "connected"
  client:read_start(function(err, data)
    assert(not err, err)
    note("client", data or "end")
    if not data then return client:close() end
    client:shutdown(function(err) note("shut", err or "well") end)
  end)
  client:write("hello", function(err) note("written", err or "well") end)
end))
assert(client:nodelay(true) == 0 and client:keepalive(true, 10) == 0)
uv.run()
-- The two sides have no common order; each has its own.
local sides = { {}, {} }
for _, line in ipairs(trace) do
  local side = (line == "accepted" or line:find "^server") and sides[1] or sides[2]
  side[#side + 1] = line
end
assert(table.concat(sides[1], "; ") == "accepted; server hello; server end; server side closed")
assert(table.concat(sides[2], "; ")
  == "connected; written well; client HELLO!; shut well; client end", table.concat(sides[2], "; "))
trace = {}

-- Much data against a slow reader: it arrives complete and in order, and the queue empties.
local total, big = 0, ("0123456789abcdef"):rep(1 << 17)
server, port = listen(function(client, server)
  client:read_start(function(_, data)
    if data then
      local from = total % 16
      assert(big:sub(from + 1, from + #data) == data, "in order")
      total = total + #data
      return
    end
    client:close()
    server:close()
  end)
end)
client = uv.new_tcp()
client:connect("127.0.0.1", port, function()
  for i = 1, 4 do client:write(big, function(err) note(i, err or "well") end) end
  assert(client:get_write_queue_size() > 0)
  assert(select(3, client:try_write "x") == "EAGAIN")
  client:shutdown(function()
    note("queue", client:get_write_queue_size())
    client:close()
  end)
end)
uv.run()
assert(total == 4 * #big)
is [[
  1 well
  2 well
  3 well
  4 well
  queue 0]]

-- No listener; and a name that is no address.
server = uv.new_tcp()
server:bind("127.0.0.1", 0)
port = server:getsockname().port
client = uv.new_tcp()
client:connect("127.0.0.1", port, function(err) note("refused", err); client:close() end)
local ok, message = pcall(uv.tcp_connect, client, "localhost", 1, print)
assert(not ok and message:find("Invalid IP address or port [localhost:1]", 1, true), message)
uv.run()
is "refused ECONNREFUSED"
assert(server:listen(1, print) == 0)

-- A port in use is reported by the calls after bind, as in libuv.
local other = uv.new_tcp()
assert(other:bind("127.0.0.1", port) == 0)
assert(select(3, other:listen(1, print)) == "EADDRINUSE")
assert(select(3, other:getsockname()) == "EADDRINUSE")
other:close()

-- Closing with an operation under way: its callback comes before that of the close.
client = uv.new_tcp()
client:connect("127.0.0.1", port, function(err) note("connect", err) end)
client:close(function() note "closed" end)
server:close()
uv.run()
is [[
  connect ECANCELED
  closed]]

-- A reset is an error for the reader.
server, port = listen(function(client, server)
  client:read_start(function(err, data)
    note("server", err or data or "end")
    if err or not data then
      client:close()
      server:close()
    end
  end)
end)
client = uv.new_tcp()
client:connect("127.0.0.1", port, function()
  client:write("x", function()
    client:close_reset(function() note "reset" end)
  end)
end)
uv.run()
assert(table.concat(trace, " "):find "server ECONNRESET", table.concat(trace, " "))
trace = {}

-- Failures are nil, message and code; mistakes are raised.
client = uv.new_tcp()
assert(select(2, client:read_start(print)) == "ENOTCONN: socket is not connected")
assert(select(3, client:write "x") == "EBADF")
assert(select(3, client:shutdown()) == "ENOTCONN")
assert(select(3, client:getpeername()) == "EBADF" and select(3, client:fileno()) == "EBADF")
ok, message = pcall(uv.write, nil, "x")
assert(not ok and message:find("#1 to 'write' (Expected uv_tcp userdata)", 1, true), message)
ok, message = pcall(client.write, client, { {} })
assert(not ok and message:find("expected table of strings", 1, true), message)
client:close()

-- A pair of sockets, read and written by handles.
local fds = assert(uv.socketpair("stream", nil, { nonblock = true }, { nonblock = true }))
local left, right = uv.new_tcp(), uv.new_tcp()
left:open(fds[1])
right:open(fds[2])
right:read_start(function(_, data)
  note("right", data or "end")
  if data then right:read_stop(); left:close(); right:close() end
end)
assert(left:try_write "pair" == 4)
uv.run()
is "right pair"
assert(not uv.loop_alive())
