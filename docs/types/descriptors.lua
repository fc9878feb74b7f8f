---@meta _
-- Descriptors

---@class moonloop.Loop
local loop = {}

---@class moonloop.DescriptorOptions
---@field fd integer An open descriptor: a pipe, socket, terminal, ...
---@field read? fun(fd: moonloop.Descriptor, event: string) Called in each pass while it is readable.
---@field write? fun(fd: moonloop.Descriptor, event: string) Called while it is writable, once enabled with `fd:enable`.
---@field close? boolean Close the descriptor with the handle; default false.
---@field reenable? moonloop.Events The events that stay enabled after their handler was called; default "read".
---@field line_limit? moonloop.Bytes Limit for the length of a line; default 1 MiB.
---@field order? integer Accepted as for other items, without effect: ready descriptors take turns.
---@field name? string Name in reports and traces.
---@field keep_alive? boolean Whether this item alone keeps a run alive; default true.
---@field on_error? moonloop.ErrorHandler Called first for errors in its handlers.

---@class moonloop.LoopDescriptorOptions: moonloop.DescriptorOptions
---@field modes? moonloop.Modes Modes in which it is served; default "default".

---Makes a source of a descriptor, which the kernel signals, and adds it.
---If a handler leaves something unread it is called again in the next pass. Ready descriptors take
---turns. Returns `nil, message, code` when the descriptor cannot be watched: "EBADF" if it is not
---open, "EPERM" for a plain file, which is always ready. Raises an error that names the wrong
---option.
---```lua
---local bytes = 0
---loop:fd { fd = 0, read = function(fd)
---  local data = fd:read(4096)
---  if data then bytes = bytes + #data
---  else
---    print(bytes .. " bytes")   --> 14 bytes
---    fd:invalidate()
---  end
---end }
---```
---@param options moonloop.LoopDescriptorOptions The descriptor and its handlers, at least one.
---@return moonloop.Descriptor? fd The handle.
---@return string? message
---@return string? code
function loop:fd(options) end

---@class moonloop
local ml = {}

---Makes a source of a descriptor without adding it to the loop.
---It is in no mode until `loop:add` adds it to one. Returns `nil, message, code` when the
---descriptor cannot be watched: "EBADF" if it is not open, "EPERM" for a plain file, which is
---always ready. Raises an error that names the wrong option.
---```lua
---local input = ml.fd { fd = 0, name = "input", read = function(fd)
---  print(fd:read "l")   --> one
---  fd:invalidate()
---end }
---loop:add(input, "common")
---```
---@param options moonloop.DescriptorOptions The descriptor and its handlers, at least one.
---@return moonloop.Descriptor? fd The handle.
---@return string? message
---@return string? code
function ml.fd(options) end

---A source that the kernel signals; made by `loop:fd` and `ml.fd`.
---@class moonloop.Descriptor: moonloop.Item
local fd = {}

---The number of the descriptor.
----1 once it was closed with its handle.
---```lua
---local fd <close> = loop:fd { fd = 0, read = print }
---print(fd.fd)   --> 0
---```
---@type integer
fd.fd = nil

---The events that it is watched for.
---"read", "write", both or neither.
---```lua
---local fd <close> = loop:fd { fd = 0, read = print }
---print(fd.enabled[1])   --> read
---```
---@type string[]
fd.enabled = nil

---Reads what is available, without waiting.
---Format `"l"` is a line without its newline, `"L"` with it, `"a"` everything up to the end of
---file, a number at most that many bytes. Data read ahead for a line stays with the handle and
---counts as readable. Returns `nil, message, code`: "EOF" at the end, "EAGAIN" if there is not
---enough yet, "EMSGSIZE" if the line is longer than 'line_limit', or the system's code. Raises an
---error for an invalid handle.
---```lua
---loop:fd { fd = 0, read = function(fd)
---  local line, message, code = fd:read "l"
---  if line then print(line)
---  elseif code == "EOF" then fd:invalidate() end
---end }
---```
---@param format? integer|"l"|"L"|"a" As in the io library; default "l".
---@return string? data The data; nil if there is none.
---@return string? message
---@return string? code
function fd:read(format) end

---Writes as much as there is room for, without waiting.
---Returns `nil, message, code` when nothing was written: "EAGAIN", "EPIPE", ... Raises an error for
---an invalid handle.
---```lua
---local text, socket = "hello", 0   -- the number of a descriptor, however it was made
---loop:fd { fd = socket, write = function(fd)
---  local count = fd:write(text)
---  text = text:sub((count or 0) + 1)
---  if text == "" then fd:invalidate() end
---end }:enable "write"
---```
---@param ... string|number Strings or numbers, written one after the other.
---@return moonloop.Bytes? count How much was written, perhaps less than given.
---@return string? message
---@return string? code
function fd:write(...) end

---Enables events; 'read' is enabled from the start if it has a handler.
---Raises an error when the event has no handler, or the handle is invalid.
---```lua
---local fd <close> = loop:fd { fd = 0, read = print, write = print }
---print(table.concat(fd:enable("write").enabled, " "))   --> read write
---```
---@param events moonloop.Events "read", "write", or a list.
---@return moonloop.Descriptor fd The handle itself.
function fd:enable(events) end

---Disables events; none is lost, because readiness lasts until it is used up.
---With nothing enabled the handle still keeps its runs alive; see `keep_alive`. Raises an error for
---an invalid handle.
---```lua
---local fd <close> = loop:fd { fd = 0, read = print }
---print(#fd:disable("read").enabled)   --> 0
---```
---@param events moonloop.Events "read", "write", or a list.
---@return moonloop.Descriptor fd The handle itself.
function fd:disable(events) end
