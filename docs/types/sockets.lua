---@meta _
-- Sockets by kind of callback

---@class moonloop.Loop
local loop = {}

---@class moonloop.SocketSourceOptions
---@field fd integer An open socket.
---@field read? fun(socket: moonloop.SocketSource) Called in each pass while there is something to read, which it reads itself.
---@field accept? fun(socket: moonloop.SocketSource, fd: integer?, message: string?, code: string?) Called with the descriptor of each connection, which is then the handler's; or with nil and an error.
---@field data? fun(socket: moonloop.SocketSource, bytes: string?, message: string?, code: string?) Called with the bytes received, at most 64 KiB; "" at the end of file; or with nil and an error.
---@field connect? fun(socket: moonloop.SocketSource, failed: nil, message: string?, code: string?) Called once, when connecting is over; with an error if it failed. No other handler is called before.
---@field write? fun(socket: moonloop.SocketSource) Called once when there is space to write, until it is enabled again.
---@field close? boolean Close the socket with the handle; default false.
---@field name? string Name in reports and traces.
---@field modes? moonloop.Modes Modes in which it is served; default "default".
---@field keep_alive? boolean Whether this item alone keeps a run alive; default true.
---@field on_error? moonloop.ErrorHandler Called first for errors in its handlers.

---Watches a socket of the script; what its handlers get depends on their kind.
---One of 'read', 'accept' and 'data'. For most purposes `ml.net` and streams are simpler. Returns
---`nil, message, code` when the descriptor cannot be watched: "EBADF". Raises an error that names
---the wrong option.
---```lua
---local posix = require "moonloop.posix"
---local ours, theirs = posix.socketpair()
---posix.write(theirs, "hello")
---posix.close(theirs)
---loop:socket_source { fd = ours, close = true, data = function(socket, bytes)
---  if bytes ~= "" then return print(bytes) end   --> hello
---  socket:invalidate()
---end }
---```
---@param options moonloop.SocketSourceOptions The socket and its handlers, at least one.
---@return moonloop.SocketSource? socket The handle.
---@return string? message
---@return string? code
function loop:socket_source(options) end

---Made by `loop:socket_source`.
---@class moonloop.SocketSource: moonloop.Item
local socket_source = {}

---The descriptor.
----1 once it was closed.
---```lua
---local socket <close> = loop:socket_source { fd = 0, read = print }
---print(socket.fd)   --> 0
---```
---@type integer
socket_source.fd = nil

---Enables the 'write' handler for one more call.
---Raises an error if there is none, or if the handle has ended.
---```lua
---local posix = require "moonloop.posix"
---local ours, theirs = posix.socketpair()
---local count = 0
---loop:socket_source { fd = ours, close = true, write = function(socket)
---  count = count + 1
---  if count < 3 then socket:enable_writing() else socket:invalidate() end
---end }
---loop:run()
---print(count)   --> 3
---posix.close(theirs)
---```
function socket_source:enable_writing() end

---Enables or disables the handler of the reading side; meanwhile, what arrives waits.
---```lua
---local socket <close> = loop:socket_source { fd = 0, data = print }
---socket:set_reading(false)
---```
---@param enabled boolean Whether to call it.
function socket_source:set_reading(enabled) end
