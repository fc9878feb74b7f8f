---@meta _
-- Streams

---@class moonloop.Loop
local loop = {}

---@class moonloop.StreamOptions
---@field fd integer An open descriptor: a pipe, socket, terminal, ...
---@field name? string What reports and traces call it.
---@field read? boolean False: it is for writing only.
---@field write? boolean False: it is for reading only.
---@field close? boolean Whether the descriptor is closed with the stream; default true, but for 0, 1 and 2.
---@field modes? moonloop.Modes Where queued bytes are written and its handler is called; default: as what makes it.
---@field timeout? moonloop.Seconds For each read and write; default: none.
---@field line_limit? moonloop.Bytes How long a line may be; default 1048576.
---@field buffer_limit? moonloop.Bytes How much one read may hold; default 67108864.
---@field write_limit? moonloop.Bytes How much is queued before a write waits; default 65536.
---@field keep_alive? boolean False: no run goes on for it; default true.
---@field on_error? moonloop.ErrorHandler Hears of errors in its handler first.

---Makes a stream of a descriptor: bytes in and out, with waits in straight-line code.
---The stream reads and writes at once what it can, and is in a mode only while somebody waits for
---it: in the modes of the task that waits.
---Returns `nil, message, code` when the descriptor cannot be used: "EBADF", "EISDIR".
---Raises an error that names the option that is wrong.
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

---Makes a stream of a descriptor: the same as `loop:stream`.
---As `loop:stream`.
---```lua
---local input = ml.stream { fd = 0 }
---loop:task(function() print(input:read "l") end)   --> one
---```
---@param options moonloop.StreamOptions The descriptor, and what the stream may do.
---@return moonloop.Stream? stream The stream.
function ml.stream(options) end

---Made by `loop:stream`, `ml.stream`, and by all that opens one: bytes in and out, with waits in
---straight-line code. One task may read and one may write at a time.
---@class moonloop.Stream
local stream = {}

---How long reads and writes wait if they do not say it themselves; nil: for ever.
---That of reads; set, it is both. Settable.
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

---The code of the last read that failed.
---Such as "ECONNRESET"; nil: none failed.
---```lua
---loop:task(function()
---  local input = loop:stream { fd = 0, line_limit = 2 }
---  input:read()
---  print(input.failure)   --> EMSGSIZE
---end)
---```
---@type string?
stream.failure = nil

---Who is at the other end of a socket; nil of anything else, and when nobody is.
---Asked anew each time.
---```lua
---print(loop:stream({ fd = 0 }).peer.family)   --> unix
---```
---@type moonloop.Peer?
stream.peer = nil

---How many bytes were read ahead of what was asked for.
---Kept for the next read.
---```lua
---loop:task(function()
---  local input = loop:stream { fd = 0 }
---  input:read "l"
---  print(input.buffered)   --> 10
---end)
---```
---@type moonloop.Bytes
stream.buffered = nil

---How many bytes were written and wait for the kernel to take them.
---At most 'write_limit', mostly.
---```lua
---print(loop:stream({ fd = 0 }).queued)   --> 0
---```
---@type moonloop.Bytes
stream.queued = nil

---How many bytes came in.
---What was read ahead included.
---```lua
---print(loop:stream({ fd = 0 }).bytes_read)   --> 0
---```
---@type moonloop.Bytes
stream.bytes_read = nil

---How many bytes went out.
---What is queued left out.
---```lua
---print(loop:stream({ fd = 0 }):write("abc").bytes_written)   --> 3
---```
---@type moonloop.Bytes
stream.bytes_written = nil

---The name that it was made with.
---As reports and traces show it.
---```lua
---print(loop:stream({ fd = 0 }).name)   --> stdin
---```
---@type string
stream.name = nil

---How often the kernel had news of it.
---Reads and writes that need not wait add none.
---```lua
---print(loop:stream({ fd = 0 }).fires)   --> 0
---```
---@type integer
stream.fires = nil

---Who hears of errors in its handler before `loop.on_error` does; nil: nobody.
---The function, or nil for none. Settable.
---```lua
---local socket = loop:stream { fd = 0 }
---socket.on_error = function(e) print(e.message) end
---```
---@type moonloop.ErrorHandler?
stream.on_error = nil

---@class moonloop.DeadlineOptions
---@field timeout? moonloop.Seconds From now; default: that of the stream.

---Reads, waiting until there is what the formats ask for.
---The formats are those of the io library: `"l"` a line without its newline, `"L"` with it, `"a"`
---all up to the end of file, `"n"` a number, and a number of bytes, which gives fewer only before
---the end of file. Nothing is taken before all formats are there: a read that times out loses no
---bytes.
---Returns `nil, message, code`: "ETIMEDOUT", "EMSGSIZE" for a line longer than 'line_limit',
---"ECONNRESET", "ECANCELED" when it is closed meanwhile, ...
---Raises an error when the stream is closed, when another task waits for the same, and where Lua
---cannot wait, which it names.
---```lua
---loop:task(function()
---  local input = loop:stream { fd = 0 }
---  print(input:read("l", 2))   --> one tw
---end)
---```
---@async
---@param ...? integer|string|moonloop.DeadlineOptions Formats; default "l". Behind them may stand `{ timeout = seconds }`.
---@return string|number|nil? ... A value for each; nil at the end.
---@return string? message
---@return string? code
function stream:read(...) end

---Reads what there is, waiting only until there is anything.
---As `stream:read`.
---```lua
---loop:task(function()
---  local input = loop:stream { fd = 0 }
---  print(#input:read_some())   --> 14
---end)
---```
---@async
---@param max? moonloop.Bytes How much at most; default 65536.
---@param options? moonloop.DeadlineOptions How long to wait.
---@return string? data At least one byte; nil at the end of file.
function stream:read_some(max, options) end

---Waits for a descriptor from the process at the other end of a Unix socket.
---Bytes without a descriptor are `nil, message, "ENOMSG"`, and stay to be read.
---Returns `nil, message, code`, and nil alone at the end of file.
---Raises an error when bytes were read ahead: descriptors among them are lost.
---```lua
---loop:task(function()
---  local socket = loop:stream { fd = 0 }
---  print(select(3, socket:receive_fd { timeout = 1 }))   --> ENOMSG
---  print(socket:read "l")   --> one
---end)
---```
---@async
---@param options? moonloop.DeadlineOptions How long to wait.
---@return integer? fd The number of an open descriptor, from now on yours.
---@return string data The bytes that came with it.
function stream:receive_fd(options) end

---Reads line by line in a `for`, or in other formats.
---The loop ends at the end of file, and when the stream is closed. A failure is raised, as
---`io.lines` does; `stream.failure` tells its code.
---Raises an error when a read fails, or takes too long.
---Raises an error when the stream is closed, when another task waits for the same, and where Lua
---cannot wait, which it names.
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
---@return fun(): string? next Reads the next.
function stream:lines(...) end

---Writes; waits while more than 'write_limit' bytes are queued.
---What the kernel does not take at once is queued, and written while the loop runs. A write that
---times out has queued its bytes all the same.
---Returns `nil, message, code`: "EPIPE" when nobody reads any more, "ETIMEDOUT", ...
---Raises an error when the stream is closed, when another task waits for the same, and where Lua
---cannot wait, which it names.
---```lua
---local socket = loop:stream { fd = 0 }
---print(socket:write("hello ", 42, "\n") == socket)   --> true
---```
---@async
---@param ... string|number|moonloop.DeadlineOptions Written one behind the other. Behind them may stand `{ timeout = seconds }`.
---@return moonloop.Stream? stream The stream itself.
---@return string? message
---@return string? code
function stream:write(...) end

---Waits until all that was written has gone to the kernel.
---As `stream:write`.
---```lua
---loop:task(function()
---  local socket = loop:stream { fd = 0 }
---  socket:write "hello"
---  print(socket:flush().queued)   --> 0
---end)
---```
---@async
---@param options? moonloop.DeadlineOptions How long to wait.
---@return moonloop.Stream? stream The stream itself.
function stream:flush(options) end

---Copies to another stream up to the end of file, as fast as the slower of the two.
---From a file, and from or to a pipe, the kernel moves the bytes by itself (`sendfile`, `splice`).
---Returns `nil, message, code` when a stream breaks or is closed.
---Raises an error when the stream is closed, when another task waits for the same, and where Lua
---cannot wait, which it names.
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
---@param other moonloop.Stream Nobody else may write to it meanwhile.
---@param n? moonloop.Bytes How much at most; default: all.
---@param options? moonloop.DeadlineOptions How long to wait.
---@return moonloop.Bytes? count How much was copied.
---@return string? message
---@return string? code
function stream:copy_to(other, n, options) end

---Hands a descriptor to the process at the other end of a Unix socket.
---It waits, as a write does, until what was written before is gone and the socket has room. A copy
---is handed on: yours stays open, and may be closed meanwhile.
---Returns `nil, message, code`: "ETIMEDOUT" (it was not handed on), "EPIPE", ...
---Raises an error when the stream is closed, when another task waits for the same, and where Lua
---cannot wait, which it names.
---```lua
---local socket = loop:stream { fd = 0 }
---print(socket:send_fd(0, "input") == socket)   --> true
---```
---@async
---@param fd integer|moonloop.Stream Its own copy stays open.
---@param data? string Bytes that go with it; default one zero.
---@param options? moonloop.DeadlineOptions How long to wait.
---@return moonloop.Stream? stream The stream itself.
---@return string? message
---@return string? code
function stream:send_fd(fd, data, options) end

---Tells the peer that nothing more will come, once what is queued is written.
---The other direction stays open. A pipe has no other: it is closed.
---Raises an error when the stream is closed or for reading only.
---```lua
---local socket = loop:stream { fd = 0 }
---socket:write("bye"):shutdown "write"
---```
---@param what? "write" There is no other.
---@return moonloop.Stream stream The stream itself.
function stream:shutdown(what) end

---Closes the stream: at once, or when what is queued is written.
---It never waits: what is queued has ten seconds to go out, and a connection ends so that the peer
---gets all of it, though it still sends. Whoever waits for the stream is told. Has no effect on a
---closed stream; a `<close>` variable does the same at the end of its block.
---```lua
---local socket = loop:stream { fd = 0 }
---socket:close()
---print(socket:is_valid())   --> false
---```
function stream:close() end

---Ends the stream at once: what is queued is dropped.
---```lua
---local socket = loop:stream { fd = 0 }
---socket:invalidate()
---print(socket:is_valid())   --> false
---```
function stream:invalidate() end

---Whether the stream was not closed yet.
---```lua
---local socket = loop:stream { fd = 0 }
---print(socket:is_valid())   --> true
---```
---@return boolean valid False once it was closed.
function stream:is_valid() end

---Sets a handler that hears of the stream's events, instead of a task that waits.
---`open_completed` comes before all others; `has_bytes` when there is something to read, again only
---after a read; `has_space` when there is room to write, again only after a write; `end` or `error`
---last, once. One event a call; the handler may wait.
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
---@param handler? fun(stream: moonloop.Stream, event: string, message?: string, code?: string) Nil: nobody hears of them.
---@return moonloop.Stream stream The stream itself.
function stream:on(handler) end

---Sets the deadlines of reads and writes from now on.
---Raises an error when the stream is closed.
---```lua
---local socket = loop:stream({ fd = 0 }):set_timeout(30, 5)
---print(socket.timeout)   --> 30.0
---```
---@param read moonloop.Seconds? For each read; nil: none.
---@param write? moonloop.Seconds? For each write; default: as for reads.
---@return moonloop.Stream stream The stream itself.
function stream:set_timeout(read, write) end

---Says whether a run goes on while somebody waits for this stream alone.
---Raises an error when the stream is closed.
---```lua
---local socket = loop:stream({ fd = 0 }):keep_alive(false)
---```
---@param holds boolean False: nobody waits for it.
---@return moonloop.Stream stream The stream itself.
function stream:keep_alive(holds) end

---The modes in which it is watched now.
---```lua
---print(#loop:stream({ fd = 0 }):modes())   --> 0
---```
---@return string[] modes Those of who waits; none if nobody ever did.
function stream:modes() end
