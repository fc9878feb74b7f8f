---@meta _
-- The network

---@class moonloop
local ml = {}

---`ml.net`: connections and datagrams. See [net.md](../net.md).
---@class moonloop.Net
ml.net = {}

---Certificates, keys and lists are texts in PEM form, or names of files with one.
---@class moonloop.TLS
---@field cert? string The certificate to show, followed by its chain.
---@field key? string Its key, without a password; default: it is in 'cert'.
---@field ca? string The roots to trust, instead of the system's.
---@field crl? string Revocation lists of the issuers: revoked certificates are refused.
---@field alpn? string[] Names of protocols, the preferred one first.
---@field min_version? "1.2"|"1.3" Default "1.2".

---@class moonloop.ClientTLS: moonloop.TLS
---@field host? string The name that the certificate must be for; default: 'host' of the connection.
---@field verify? boolean False: accept any certificate; default true.

---@class moonloop.ServerTLS: moonloop.TLS
---@field verify? boolean|"optional" Ask clients for certificates: true with 'ca', which says which ones are trusted.
---@field others? { cert: string, key?: string }[] Further certificates, for clients that ask for one of their names.
---@field timeout? moonloop.Seconds For the handshake; default 10.

---@class moonloop.StartTLS: moonloop.ServerTLS
---@field server? boolean This side is the server; default false.
---@field host? string Of a client: the name that the certificate must be for.

---@class moonloop.ListenOptions
---@field [1] (fun(stream: moonloop.Stream, peer: moonloop.Peer))? Called in a task of its own for each connection.
---@field handler? fun(stream: moonloop.Stream, peer: moonloop.Peer) The same by name, as in configurations.
---@field host? string An address, "localhost", or "*" for all addresses of the machine, IPv6 included (the default).
---@field port? integer 0: the system chooses one.
---@field path? string A Unix socket instead of host and port; "@" starts an abstract name. A stale file is replaced, and the file is removed at the end.
---@field fd? string "systemd": the socket that systemd has passed; "systemd:NAME" or "systemd:1": one of several.
---@field backlog? integer How many connections may wait to be accepted; default 1024.
---@field reuse_port? boolean Let others listen on the port too (SO_REUSEPORT).
---@field v6_only? boolean For an IPv6 address: do not accept IPv4.
---@field permissions? integer Permissions of the socket's file, such as 384 (0600).
---@field max_connections? integer Connections beyond this wait to be accepted; default: no limit.
---@field name? string Name in reports and traces; default: its address.
---@field modes? moonloop.Modes Modes in which it is served; default: those of its maker.
---@field keep_alive? boolean Whether this item alone keeps a run alive; default true.
---@field on_error? moonloop.ErrorHandler Called first for its own errors and those of its handlers.
---@field tls? moonloop.ServerTLS Encrypt all connections; see [net.md](../net.md#tls).
---@field nodelay? boolean Send small writes at once, without Nagle's algorithm; default true.
---@field keepalive? integer Probe silent peers after this many seconds.
---@field timeout? moonloop.Seconds Timeout of each read and write; default: none.
---@field line_limit? moonloop.Bytes Limit for the length of a line; default 1 MiB.
---@field buffer_limit? moonloop.Bytes Limit for the bytes that one read holds; default 64 MiB.
---@field write_limit? moonloop.Bytes Bytes that may be queued before a write waits; default 64 KiB.

---Listens for connections and runs the handler in a new task for each.
---The stream is closed when its handler returns, unless it has an event handler or another task
---waits for it. Without a handler `server:accept` returns the connections. When the process runs
---out of descriptors that is reported once, and accepting resumes by itself when there are some
---again. Returns `nil, message, code`: "EADDRINUSE", "EACCES", "EADDRNOTAVAIL", or "ENOENT" and
---others for certificates that cannot be used. Raises an error that names the wrong option.
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
---@return moonloop.Server? server The server, already listening.
---@return string? message
---@return string? code
function ml.net.listen(options) end

---@class moonloop.ConnectOptions
---@field host? string A name or an address.
---@field port? integer From 1 to 65535.
---@field path? string A Unix socket instead of host and port; "@" starts an abstract name.
---@field family? "any"|"inet"|"inet6" Which addresses of a name to use; default "any".
---@field timeout? moonloop.Seconds For everything, looking up the name included; default: none.
---@field local_host? string The local address to use.
---@field name? string Name in reports and traces; default: its address.
---@field modes? moonloop.Modes Modes in which queued bytes are written and its handler is called; default: those of its maker.
---@field tls? boolean|moonloop.ClientTLS Encrypt the connection; see [net.md](../net.md#tls).
---@field io_timeout? moonloop.Seconds Timeout of each read and write; default: none.
---@field nodelay? boolean Send small writes at once, without Nagle's algorithm; default true.
---@field keepalive? integer Probe silent peers after this many seconds.
---@field line_limit? moonloop.Bytes Limit for the length of a line; default 1 MiB.
---@field buffer_limit? moonloop.Bytes Limit for the bytes that one read holds; default 64 MiB.
---@field write_limit? moonloop.Bytes Bytes that may be queued before a write waits; default 64 KiB.

---Connects to a server, and waits until that is done.
---Names are looked up off the loop's thread. The addresses are tried in turn, alternating between
---families: the next one when one fails, or in parallel after 250 ms; the first that answers is
---used. Returns `nil, message, code`: "ECONNREFUSED", "ETIMEDOUT", "EHOSTUNREACH", "EAI_NONAME" if
---the name has no address, "ETLS_HOST" and others for TLS, ... Raises an error that names the wrong
---option, and where Lua cannot wait.
---```lua
---loop:task(function()
---  print(select(3, ml.net.connect { path = "@not.listening", timeout = 1 }))
---  --> ECONNREFUSED
---end)
---```
---@async
---@param options moonloop.ConnectOptions Where to connect, and the timeout.
---@return moonloop.Stream? stream The connection.
---@return string? message
---@return string? code
function ml.net.connect(options) end

---@class moonloop.ResolveOptions
---@field family? "any"|"inet"|"inet6" Default "any".
---@field timeout? moonloop.Seconds Default: none.

---Looks up a name without blocking the loop, and waits for its addresses.
---Returns `nil, message, code`: "EAI_NONAME", "EAI_AGAIN", "ETIMEDOUT", ... Raises an error where
---Lua cannot wait.
---```lua
---loop:task(function()
---  print(ml.net.resolve("localhost", { family = "inet" })[1])   --> 127.0.0.1
---end)
---```
---@async
---@param name string A host name; an address is returned unchanged.
---@param options? moonloop.ResolveOptions Which addresses, and the timeout.
---@return string[]? addresses At least one, the best first.
---@return string? message
---@return string? code
function ml.net.resolve(name, options) end

---@class moonloop.DatagramOptions
---@field [1] (fun(socket: moonloop.Datagrams, data: string?, peer: moonloop.Peer|string, code?: string))? Called with each datagram; or with nil, message and code.
---@field handler? fun(socket: moonloop.Datagrams, data: string?, peer: moonloop.Peer|string, code?: string) The same by name, as in configurations.
---@field host? string The local address; default "0.0.0.0".
---@field port? integer Default 0: the system chooses one.
---@field connect? { host: string, port: integer } The only peer, by address.
---@field broadcast? boolean Allow broadcasts.
---@field reuse_port? boolean Let others bind the port too (SO_REUSEPORT).
---@field name? string Name in reports and traces; default: its address.
---@field modes? moonloop.Modes Modes in which it is served; default: those of its maker.
---@field keep_alive? boolean Whether this item alone keeps a run alive; default true.
---@field on_error? moonloop.ErrorHandler Called first for errors in its handler.

---Makes a socket for datagrams.
---Returns `nil, message, code`: "EADDRINUSE", "EACCES", ... Raises an error that names the wrong
---option.
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
---@param options moonloop.DatagramOptions Where to bind, and the handler.
---@return moonloop.Datagrams? socket The socket, already bound.
---@return string? message
---@return string? code
function ml.net.udp(options) end

---A listening server, made by `ml.net.listen`: a task for each connection.
---@class moonloop.Server: moonloop.Item
local server = {}

---The port, even if the system chose it; nil for a Unix socket.
---From 1 to 65535.
---```lua
---local server <close> = ml.net.listen { host = "127.0.0.1", port = 0 }
---print(server.port > 0)   --> true
---```
---@type integer?
server.port = nil

---The address that it listens on.
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

---How many clients have failed in their TLS handshake.
---They never become connections; 0 without TLS.
---```lua
---local server <close> = ml.net.listen { path = "@failures.example" }
---print(server.tls_failures)   --> 0
---```
---@type integer
server.tls_failures = nil

---Why the last of them failed.
---nil if none did.
---```lua
---local server <close> = ml.net.listen { path = "@failure.example" }
---print(server.tls_failure)   --> nil
---```
---@type string?
server.tls_failure = nil

---Waits for the next connection of a server without a handler.
---Returns `nil, message, code`: "ETIMEDOUT", "ECANCELED" when it is closed meanwhile. Raises an
---error when it has a handler, and when another task is already waiting.
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
---@param options? moonloop.TimeoutOptions The timeout.
---@return moonloop.Stream? stream The connection.
---@return moonloop.Peer peer The address of the other end.
function server:accept(options) end

---A datagram socket, made by `ml.net.udp`.
---@class moonloop.Datagrams: moonloop.Item
local socket = {}

---The port, even if the system chose it.
---From 1 to 65535.
---```lua
---local socket <close> = ml.net.udp { host = "127.0.0.1" }
---print(socket.port > 0)   --> true
---```
---@type integer
socket.port = nil

---Sends one datagram, whole or not at all, without waiting.
---Returns `nil, message, code`: "EAGAIN", "EMSGSIZE", "ECONNREFUSED", ... Raises an error when the
---socket is invalid, or the address is a name.
---```lua
---local socket <close> = ml.net.udp { host = "127.0.0.1" }
---print(socket:send("hello", "127.0.0.1", 9))   --> true
---```
---@param data string At most about 65507 bytes.
---@param host? string An address; not for a connected socket.
---@param port? integer From 1 to 65535.
---@return true? sent True once the kernel has taken it.
---@return string? message
---@return string? code
function socket:send(data, host, port) end

---Waits for the next datagram of a socket without a handler.
---Returns `nil, message, code`: "ETIMEDOUT", "ECONNREFUSED", "ECANCELED", ... Raises an error when
---it has a handler, and when another task is already waiting.
---```lua
---loop:task(function()
---  local socket <close> = ml.net.udp { host = "127.0.0.1" }
---  print(select(3, socket:receive { timeout = 0 }))   --> ETIMEDOUT
---end)
---```
---@async
---@param options? moonloop.TimeoutOptions The timeout.
---@return string? data The datagram, at most 65536 bytes.
---@return moonloop.Peer peer The sender.
function socket:receive(options) end

---An end of a connection: its address, and its process if known.
---@class moonloop.Peer
---@field family string "inet", "inet6" or "unix".
---@field host? string The address.
---@field port? integer The port.
---@field path? string For a Unix socket; often empty.
---@field pid? integer For a Unix peer: its process.
---@field uid? integer For a Unix peer: its user.
---@field gid? integer For a Unix peer: its group.
