---@meta _
-- Streams

---@class moonloop.Loop
local loop = {}

---@class moonloop.StreamOptions
---@field fd integer An open descriptor: a pipe, socket, terminal, ...
---@field name? string Name in reports and traces.
---@field read? boolean False: the stream is for writing only.
---@field write? boolean False: the stream is for reading only.
---@field close? boolean Close the descriptor with the stream; default true, except for 0, 1 and 2.
---@field modes? moonloop.Modes Modes in which queued bytes are written and its handler is called; default: those of its maker.
---@field timeout? moonloop.Seconds Timeout of each read and write; default: none.
---@field line_limit? moonloop.Bytes Limit for the length of a line; default 1 MiB.
---@field buffer_limit? moonloop.Bytes Limit for the bytes that one read holds; default 64 MiB.
---@field write_limit? moonloop.Bytes Bytes that may be queued before a write waits; default 64 KiB.
---@field keep_alive? boolean Whether it alone keeps a run alive; default true.
---@field on_error? moonloop.ErrorHandler Called first for errors in its handler.

---Makes a stream from a descriptor: bytes in and out, with waits in straight-line code.
---The stream reads and writes what it can at once, and is in a mode only while a task waits for it:
---in the modes of that task. Returns `nil, message, code` when the descriptor cannot be used:
---"EBADF", "EISDIR". Raises an error that names the wrong option.
---```lua
---loop:task(function()
---  local input <close> = loop:stream { fd = 0, timeout = 5 }
---  for line in input:lines() do print(#line) end   --> 3
---  --> 3
---  --> 5
---end)
---```
---@param options moonloop.StreamOptions The descriptor, and what the stream may do.
---@return moonloop.Stream? stream The stream.
---@return string? message
---@return string? code
function loop:stream(options) end

---@class moonloop
local ml = {}

---Makes a stream from a descriptor, exactly as `loop:stream` does.
---Fails and raises as `loop:stream` does.
---```lua
---local input = ml.stream { fd = 0 }
---loop:task(function() print(input:read "l") end)   --> one
---```
---@param options moonloop.StreamOptions The descriptor, and what the stream may do.
---@return moonloop.Stream? stream The stream.
function ml.stream(options) end

---Bytes in and out, with waits in straight-line code.
---Made by `loop:stream` and everything that opens one. One task may read and one may write at a
---time.
---@class moonloop.Stream
local stream = {}

---Default timeout of reads and writes; nil: none.
---It is that of reads; setting it sets both. Settable.
---```lua
---local socket = loop:stream { fd = 0 }
---socket.timeout = 2.5
---print(socket.timeout)   --> 2.5
---```
---@type moonloop.Seconds?
stream.timeout = nil

---The number of the descriptor.
----1 once it was closed.
---```lua
---print(loop:stream({ fd = 0 }).fd)   --> 0
---```
---@type integer
stream.fd = nil

---The code of the last failed read.
---Such as "ECONNRESET"; nil if none failed.
---```lua
---loop:task(function()
---  local input = loop:stream { fd = 0, line_limit = 2 }
---  input:read()
---  print(input.failure)   --> EMSGSIZE
---end)
---```
---@type string?
stream.failure = nil

---The address of the other end of a socket.
---Looked up each time; nil for anything else, and if the socket is not connected.
---```lua
---print(loop:stream({ fd = 0 }).peer.family)   --> unix
---```
---@type moonloop.Peer?
stream.peer = nil

---What was agreed on by TLS.
---nil without it. The subject and the certificate are those of the other side, if it has shown one.
---```lua
---print(loop:stream({ fd = 0 }).tls)   --> nil
---```
---@type { version: string, cipher: string, alpn: string?, host: string?, subject: string?, certificate: string? }?
stream.tls = nil

---How many bytes were read ahead.
---They are kept for the next read.
---```lua
---loop:task(function()
---  local input = loop:stream { fd = 0 }
---  input:read "l"
---  print(input.buffered)   --> 10
---end)
---```
---@type moonloop.Bytes
stream.buffered = nil

---How many written bytes are waiting for the kernel to take them.
---Usually at most 'write_limit'.
---```lua
---print(loop:stream({ fd = 0 }).queued)   --> 0
---```
---@type moonloop.Bytes
stream.queued = nil

---How many bytes came in.
---Includes those read ahead.
---```lua
---print(loop:stream({ fd = 0 }).bytes_read)   --> 0
---```
---@type moonloop.Bytes
stream.bytes_read = nil

---How many bytes went out.
---Excludes those still queued.
---```lua
---print(loop:stream({ fd = 0 }):write("abc").bytes_written)   --> 3
---```
---@type moonloop.Bytes
stream.bytes_written = nil

---The name given when it was made.
---Reports and traces show it.
---```lua
---print(loop:stream({ fd = 0 }).name)   --> stdin
---```
---@type string
stream.name = nil

---How often the kernel reported an event for it.
---Reads and writes that need not wait do not count.
---```lua
---print(loop:stream({ fd = 0 }).fires)   --> 0
---```
---@type integer
stream.fires = nil

---Called first for errors in its handler, before `loop.on_error`.
---Nil for none. Settable.
---```lua
---local socket = loop:stream { fd = 0 }
---socket.on_error = function(e) print(e.message) end
---```
---@type moonloop.ErrorHandler?
stream.on_error = nil

---@class moonloop.TimeoutOptions
---@field timeout? moonloop.Seconds Default: none.

---@class moonloop.DeadlineOptions
---@field timeout? moonloop.Seconds Default: that of the stream.

---Reads, and waits until the formats are satisfied.
---The formats are those of the io library: `"l"` a line without its newline, `"L"` with it, `"a"`
---everything up to the end of file, `"n"` a number, and a number of bytes, which returns fewer only
---before the end of file. `"h"` is for heads, such as those of HTTP: the lines that have come, at
---least one, up to an empty line and with it, within 'line_limit'. Nothing is consumed until all
---formats are satisfied: a read that times out loses no bytes. Returns `nil, message, code`:
---"ETIMEDOUT", "EMSGSIZE" if a line is longer than 'line_limit', "ECONNRESET", "ECANCELED" when the
---stream is closed meanwhile, ... Raises an error when the stream is closed, when another task is
---already reading, and where Lua cannot wait.
---```lua
---loop:task(function()
---  local input = loop:stream { fd = 0 }
---  print(input:read("l", 2))   --> one tw
---end)
---```
---@async
---@param ...? integer|string|moonloop.DeadlineOptions Formats; default "l". The last argument may be `{ timeout = seconds }`.
---@return string|number|nil? ... A value for each format; nil at the end.
---@return string? message
---@return string? code
function stream:read(...) end

---Reads what is available, and waits only until there is something.
---Fails and raises as `stream:read` does.
---```lua
---loop:task(function()
---  local input = loop:stream { fd = 0 }
---  print(#input:read_some())   --> 14
---end)
---```
---@async
---@param max? moonloop.Bytes Maximum number of bytes to read; default 64 KiB.
---@param options? moonloop.DeadlineOptions The timeout.
---@return string? data At least one byte; nil at the end of file.
function stream:read_some(max, options) end

---Waits for a descriptor from the process at the other end of a Unix socket.
---If bytes come without a descriptor the result is `nil, message, "ENOMSG"`, and the bytes can
---still be read. Returns `nil, message, code`, and nil alone at the end of file. Raises an error
---when bytes were read ahead: descriptors among them are lost.
---```lua
---loop:task(function()
---  local socket = loop:stream { fd = 0 }
---  print(select(3, socket:receive_fd { timeout = 1 }))   --> ENOMSG
---  print(socket:read "l")   --> one
---end)
---```
---@async
---@param options? moonloop.DeadlineOptions The timeout.
---@return integer? fd An open descriptor, which now is yours.
---@return string data The bytes that came with it.
function stream:receive_fd(options) end

---Reads line by line in a `for`, or in other formats.
---The loop ends at the end of file, and when the stream is closed. When a read fails or times out,
---it raises a table with `message` and `code`, such as "ETIMEDOUT". Raises an error when the stream
---is closed, when another task is already reading, and where Lua cannot wait.
---```lua
---loop:task(function()
---  for line in loop:stream({ fd = 0 }):lines() do
---    print(line)   --> one
---    --> two
---    --> three
---  end
---end)
---```
---@async
---@param ...? integer|string Formats; default "l".
---@return fun(): string? next The iterator.
function stream:lines(...) end

---Writes, and waits while more than 'write_limit' bytes are queued.
---What the kernel does not take at once is queued and written while the loop runs. A write that
---times out has queued its bytes anyway. Returns `nil, message, code`: "EPIPE" if the other end was
---closed, "ETIMEDOUT", ... Raises an error when the stream is closed, when another task is already
---writing, and where Lua cannot wait.
---```lua
---local socket = loop:stream { fd = 0 }
---print(socket:write("hello ", 42, "\n") == socket)   --> true
---```
---@async
---@param ... string|number|moonloop.DeadlineOptions Strings or numbers, written one after the other. The last argument may be `{ timeout = seconds }`.
---@return moonloop.Stream? stream The stream itself.
---@return string? message
---@return string? code
function stream:write(...) end

---Waits until the kernel has taken everything that was written.
---Fails and raises as `stream:write` does.
---```lua
---loop:task(function()
---  local socket = loop:stream { fd = 0 }
---  socket:write "hello"
---  print(socket:flush().queued)   --> 0
---end)
---```
---@async
---@param options? moonloop.DeadlineOptions The timeout.
---@return moonloop.Stream? stream The stream itself.
function stream:flush(options) end

---Copies to another stream up to the end of file, as fast as the slower of the two.
---From a file, and from or to a pipe, the kernel moves the bytes itself (`sendfile`, `splice`).
---Returns `nil, message, code` when a stream fails or is closed. Raises an error when a stream is
---closed, when another task is already using it, and where Lua cannot wait.
---```lua
---local server = ml.net.listen { path = "@copy.example", max_connections = 1,
---  function(stream) stream:read "a" end }
---server:keep_alive(false)
---loop:task(function()
---  local input = loop:stream { fd = 0 }
---  local sink = ml.net.connect { path = "@copy.example" }
---  print(input:copy_to(sink))   --> 14
---  sink:close()
---end)
---```
---@async
---@param other moonloop.Stream The destination; no other task may write to it meanwhile.
---@param n? moonloop.Bytes Maximum number of bytes to copy; default: all.
---@param options? moonloop.DeadlineOptions The timeout.
---@return moonloop.Bytes? count How many bytes were copied.
---@return string? message
---@return string? code
function stream:copy_to(other, n, options) end

---Sends a descriptor to the process at the other end of a Unix socket.
---Like a write it waits until earlier bytes are gone and the socket has room. A copy is sent: your
---descriptor stays open, and may be closed meanwhile. Returns `nil, message, code`: "ETIMEDOUT" (it
---was not sent), "EPIPE", ... Raises an error when the stream is closed, when another task is
---already writing, and where Lua cannot wait.
---```lua
---local socket = loop:stream { fd = 0 }
---print(socket:send_fd(0, "input") == socket)   --> true
---```
---@async
---@param fd integer|moonloop.Stream The descriptor to send a copy of.
---@param data? string Bytes to send with it; default: a single zero byte.
---@param options? moonloop.DeadlineOptions The timeout.
---@return moonloop.Stream? stream The stream itself.
---@return string? message
---@return string? code
function stream:send_fd(fd, data, options) end

---Ends the sending direction once everything queued is written.
---The other direction stays open; a pipe has none and is closed. Raises an error when the stream is
---closed or for reading only.
---```lua
---local socket = loop:stream { fd = 0 }
---socket:write("bye"):shutdown "write"
---```
---@param what? "write" "write" is the only choice.
---@return moonloop.Stream stream The stream itself.
function stream:shutdown(what) end

---Encrypts the stream from now on, and waits for the handshake.
---Both sides must start at the same point of the conversation: no byte may come before the
---handshake. Returns `nil, message, code`: "ETLS_EXPIRED", "ETLS_PROTOCOL", "ETIMEDOUT", ...; the
---stream can then only be closed, as when the task is cancelled. Raises an error when the stream is
---closed, in use or one-way, or has TLS already.
---```lua
---local server = ml.net.listen { path = "@starttls.example", function(stream)
---  stream:write "this is no TLS\n"
---end }
---loop:task(function()
---  local stream = ml.net.connect { path = "@starttls.example" }
---  print(select(3, stream:starttls { host = "example.org", timeout = 5 }))   --> ETLS_PROTOCOL
---  server:invalidate()
---end)
---```
---@async
---@param options moonloop.StartTLS As 'tls' of `ml.net.connect`, or with `server = true` of `ml.net.listen`; 'timeout' is for the handshake.
---@return moonloop.Stream? stream The stream itself.
---@return string? message
---@return string? code
function stream:starttls(options) end

---Closes the stream: at once, or when everything queued is written.
---Never waits: queued bytes have ten seconds to go out, and a connection is ended so that the peer
---gets all of them even if it still sends. Tasks that wait for the stream get an error result. Has
---no effect on a closed stream; a `<close>` variable does the same at the end of its block.
---```lua
---local socket = loop:stream { fd = 0 }
---socket:close()
---print(socket:is_valid())   --> false
---```
function stream:close() end

---Ends the stream at once and drops what is queued.
---```lua
---local socket = loop:stream { fd = 0 }
---socket:invalidate()
---print(socket:is_valid())   --> false
---```
function stream:invalidate() end

---Whether the stream is still open.
---```lua
---local socket = loop:stream { fd = 0 }
---print(socket:is_valid())   --> true
---```
---@return boolean valid False once it was closed.
function stream:is_valid() end

---Sets a handler for the stream's events, instead of a waiting task.
---`open_completed` comes first; `has_bytes` when there is something to read, again only after a
---read; `has_space` when there is room to write, again only after a write; `end` or `error` comes
---last, once. Each call has one event; the handler may wait. With `"end"` it gets the last one
---alone: up to 64 KiB that come before it are kept for reads, and the end may be reported before
---they are read; of more, some must be read first.
---Raises an error when the stream is closed.
---```lua
---loop:stream({ fd = 0, write = false }):on(function(stream, event)
---  print(event)
---  if event == "has_bytes" then stream:read_some() end
---  if event == "end" then stream:close() end
---end)
-----> open_completed
-----> has_bytes
-----> end
---```
---@param handler? fun(stream: moonloop.Stream, event: string, message?: string, code?: string) The handler; nil: events are not reported.
---@param events? "end" Only `end` and `error` are reported; default: all.
---@return moonloop.Stream stream The stream itself.
function stream:on(handler, events) end

---Sets the timeouts of reads and writes from now on.
---Raises an error when the stream is closed.
---```lua
---local socket = loop:stream({ fd = 0 }):set_timeout(30, 5)
---print(socket.timeout)   --> 30.0
---```
---@param read moonloop.Seconds? For each read; nil: none.
---@param write? moonloop.Seconds? For each write; default: as for reads.
---@return moonloop.Stream stream The stream itself.
function stream:set_timeout(read, write) end

---Sets whether a task that waits for this stream keeps a run alive.
---Raises an error when the stream is closed.
---```lua
---local socket = loop:stream({ fd = 0 }):keep_alive(false)
---```
---@param holds boolean False: a run does not wait for it.
---@return moonloop.Stream stream The stream itself.
function stream:keep_alive(holds) end

---The modes in which it is watched now.
---```lua
---print(#loop:stream({ fd = 0 }):modes())   --> 0
---```
---@return string[] modes Those of the waiting tasks; empty if none has waited yet.
function stream:modes() end
