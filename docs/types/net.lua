---@meta _
-- The network

---@class moonloop
local ml = {}

---`ml.net`: connections and datagrams. See [net.md](../net.md).
---@class moonloop.Net
ml.net = {}

---@class moonloop.ListenOptions
---@field [1] (fun(stream: moonloop.Stream, peer: moonloop.Peer))? Called in a task for each connection.
---@field host? string An address, "localhost", or "*" for all of the machine (the default), by IPv6 too.
---@field port? integer 0: the system chooses one.
---@field path? string Instead of them, a Unix socket; behind "@" an abstract name. A file that was left behind is replaced; the own file is removed at the end.
---@field backlog? integer How many may wait to be accepted; default 1024.
---@field reuse_port? boolean Others may listen on the port too (SO_REUSEPORT).
---@field v6_only? boolean Of an IPv6 address: no IPv4.
---@field permissions? integer Of the socket's file, such as 384 (0600).
---@field max_connections? integer More wait to be accepted; default: no limit.
---@field name? string What reports and traces call it; default: its address.
---@field modes? moonloop.Modes Where it is served; default: as what makes it.
---@field keep_alive? boolean False: a run does not go on for it; default true.
---@field on_error? moonloop.ErrorHandler Hears first of errors in handlers, and of its own.
---@field nodelay? boolean False: small writes are gathered (Nagle); default true.
---@field keepalive? integer Asks silent peers whether they live, after so long.
---@field timeout? moonloop.Seconds For each read and write; default: none.
---@field line_limit? moonloop.Bytes How long a line may be; default 1048576.
---@field buffer_limit? moonloop.Bytes How much one read may hold; default 67108864.
---@field write_limit? moonloop.Bytes How much is queued before a write waits; default 65536.

---Listens for connections: each gets a task of its own, which runs the handler.
---The stream is closed when its handler returns, unless it has a handler of events or another task
---waits for it. Without a handler, `server:accept` gives the connections. When descriptors are
---wanting, that is reported once, and accepting goes on by itself when there are some.
---Returns `nil, message, code`: "EADDRINUSE", "EACCES", "EADDRNOTAVAIL", ...
---Raises an error that names the option that is wrong.
---```lua
---local server = ml.net.listen { host = "127.0.0.1", port = 0, function(stream, peer)
---  for line in stream:lines() do stream:write(line:upper(), "\n") end
---end }
---loop:task(function()
---  local s <close> = ml.net.connect { host = "127.0.0.1", port = server.port }
---  s:write "hello\n"
---  print(s:read "l")   --> HELLO
---  server:invalidate()
---end)
---```
---@param options moonloop.ListenOptions Where to listen, and the handler.
---@return moonloop.Server? server It listens already.
---@return string? message
---@return string? code
function ml.net.listen(options) end

---@class moonloop.ConnectOptions
---@field host? string A name or an address.
---@field port? integer From 1 to 65535.
---@field path? string Instead of them, a Unix socket; behind "@" an abstract name.
---@field family? "any"|"inet"|"inet6" Of the addresses of a name; default "any".
---@field timeout? moonloop.Seconds For all of it, the name included; default: none.
---@field local_host? string The own address to use.
---@field name? string What reports and traces call it; default: its address.
---@field modes? moonloop.Modes Where queued bytes are written and its handler is called; default: as what makes it.
---@field io_timeout? moonloop.Seconds For each read and write; default: none.
---@field nodelay? boolean False: small writes are gathered (Nagle); default true.
---@field keepalive? integer Asks silent peers whether they live, after so long.
---@field line_limit? moonloop.Bytes How long a line may be; default 1048576.
---@field buffer_limit? moonloop.Bytes How much one read may hold; default 67108864.
---@field write_limit? moonloop.Bytes How much is queued before a write waits; default 65536.

---Connects to a server, and waits until that is done.
---A host is looked up off the loop. Its addresses are tried in turn, families alternating: the next
---when one has failed, or beside it after 250 ms; the first that answers is taken.
---Returns `nil, message, code`: "ECONNREFUSED", "ETIMEDOUT", "EHOSTUNREACH", "EAI_NONAME" for a
---name without address, ...
---Raises an error that names the option that is wrong, and where Lua cannot wait.
---```lua
---loop:task(function()
---  print(select(3, ml.net.connect { path = "@nobody.listens.here", timeout = 1 }))
---  --> ECONNREFUSED
---end)
---```
---@async
---@param options moonloop.ConnectOptions Where to, and how long it may take.
---@return moonloop.Stream? stream The connection.
---@return string? message
---@return string? code
function ml.net.connect(options) end

---@class moonloop.ResolveOptions
---@field family? "any"|"inet"|"inet6" Default "any".
---@field timeout? moonloop.Seconds From now; default: for ever.

---Looks a name up without blocking the loop, and waits for its addresses.
---Returns `nil, message, code`: "EAI_NONAME", "EAI_AGAIN", "ETIMEDOUT", ...
---Raises an error where Lua cannot wait, which it names.
---```lua
---loop:task(function()
---  print(ml.net.resolve("localhost", { family = "inet" })[1])   --> 127.0.0.1
---end)
---```
---@async
---@param name string A host; an address is given back.
---@param options? moonloop.ResolveOptions Which, and how long to wait.
---@return string[]? addresses At least one, the best first.
---@return string? message
---@return string? code
function ml.net.resolve(name, options) end

---@class moonloop.DatagramOptions
---@field [1] (fun(socket: moonloop.Datagrams, data: string?, peer: moonloop.Peer|string, code?: string))? Called with each datagram; or with nil, message and code.
---@field host? string The own address; default "0.0.0.0".
---@field port? integer Default 0: the system chooses one.
---@field connect? { host: string, port: integer } The only peer, by address.
---@field broadcast? boolean It may send to all.
---@field reuse_port? boolean Others may have the port too (SO_REUSEPORT).
---@field name? string What reports and traces call it; default: its address.
---@field modes? moonloop.Modes Where it is served; default: as what makes it.
---@field keep_alive? boolean False: a run does not go on for it; default true.
---@field on_error? moonloop.ErrorHandler Hears first of errors in its handler.

---Makes a socket for datagrams.
---Returns `nil, message, code`: "EADDRINUSE", "EACCES", ...
---Raises an error that names the option that is wrong.
---```lua
---local echo = ml.net.udp { host = "127.0.0.1", function(socket, data, peer)
---  socket:send(data:upper(), peer.host, peer.port)
---  socket:invalidate()
---end }
---loop:task(function()
---  local socket <close> = ml.net.udp { host = "127.0.0.1" }
---  socket:send("hello", "127.0.0.1", echo.port)
---  print((socket:receive { timeout = 5 }))   --> HELLO
---end)
---```
---@param options moonloop.DatagramOptions Where it is, and the handler.
---@return moonloop.Datagrams? socket It is bound already.
---@return string? message
---@return string? code
function ml.net.udp(options) end

---Made by `ml.net.listen`: a task for each connection.
---@class moonloop.Server: moonloop.Item
local server = {}

---The port, also if the system chose it; nil of a Unix socket.
---From 1 to 65535.
---```lua
---local server <close> = ml.net.listen { host = "127.0.0.1", port = 0 }
---print(server.port > 0)   --> true
---```
---@type integer?
server.port = nil

---Where it listens.
---Host, port and family, or path.
---```lua
---local server <close> = ml.net.listen { path = "@address.example" }
---print(server.address.path)   --> @address.example
---```
---@type moonloop.Peer
server.address = nil

---How many of its connections are open.
---At most 'max_connections'.
---```lua
---local server <close> = ml.net.listen { path = "@connections.example" }
---print(server.connections)   --> 0
---```
---@type integer
server.connections = nil

---Waits for the next connection, of a server without a handler.
---Returns `nil, message, code`: "ETIMEDOUT", "ECANCELED" when it is closed meanwhile.
---Raises an error when it has a handler, and when another task waits already.
---```lua
---local server = ml.net.listen { path = "@accept.example" }
---loop:task(function()
---  local stream, peer = server:accept()
---  print(stream:read "a")   --> hello
---  server:invalidate()
---end)
---loop:task(function()
---  ml.net.connect({ path = "@accept.example" }):write("hello"):close()
---end)
---```
---@async
---@param options? moonloop.DeadlineOptions How long to wait.
---@return moonloop.Stream? stream The connection.
---@return moonloop.Peer peer Who it is.
function server:accept(options) end

---Made by `ml.net.udp`.
---@class moonloop.Datagrams: moonloop.Item
local socket = {}

---The port, also if the system chose it.
---From 1 to 65535.
---```lua
---local socket <close> = ml.net.udp { host = "127.0.0.1" }
---print(socket.port > 0)   --> true
---```
---@type integer
socket.port = nil

---Sends one datagram, whole or not at all, without waiting.
---Returns `nil, message, code`: "EAGAIN", "EMSGSIZE", "ECONNREFUSED", ...
---Raises an error when the socket is invalid, or the address is a name.
---```lua
---local socket <close> = ml.net.udp { host = "127.0.0.1" }
---print(socket:send("hello", "127.0.0.1", 9))   --> true
---```
---@param data string At most about 65507 bytes.
---@param host? string An address; not for a connected socket.
---@param port? integer From 1 to 65535.
---@return true? sent The kernel has taken it.
---@return string? message
---@return string? code
function socket:send(data, host, port) end

---Waits for the next datagram, of a socket without a handler.
---Returns `nil, message, code`: "ETIMEDOUT", "ECONNREFUSED", "ECANCELED", ...
---Raises an error when it has a handler, and when another task waits already.
---```lua
---loop:task(function()
---  local socket <close> = ml.net.udp { host = "127.0.0.1" }
---  print(select(3, socket:receive { timeout = 0 }))   --> ETIMEDOUT
---end)
---```
---@async
---@param options? moonloop.DeadlineOptions How long to wait.
---@return string? data The datagram, at most 65536 bytes.
---@return moonloop.Peer peer Who sent it.
function socket:receive(options) end

---Where a socket is, and who is there.
---@class moonloop.Peer
---@field family string "inet", "inet6" or "unix".
---@field host? string The address.
---@field port? integer The port.
---@field path? string Of a Unix socket; often empty.
---@field pid? integer Of a Unix peer: its process.
---@field uid? integer Of a Unix peer: its user.
---@field gid? integer Of a Unix peer: its group.
