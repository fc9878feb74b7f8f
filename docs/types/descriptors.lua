---@meta _
-- Descriptors

---@class moonloop.Loop
local loop = {}

---@class moonloop.DescriptorOptions
---@field fd integer An open descriptor: a pipe, socket, terminal, ...
---@field read? fun(fd: moonloop.Descriptor, event: string) Called in each pass while it is readable.
---@field write? fun(fd: moonloop.Descriptor, event: string) Called while it is writable, once enabled with `fd:enable`.
---@field close? boolean True: the descriptor is closed with the handle; default false.
---@field reenable? moonloop.Events Which events stay enabled after a call of their handler; default "read".
---@field line_limit? moonloop.Bytes How long a line may be; default 1048576.
---@field order? integer Taken for likeness; ready descriptors take turns.
---@field name? string What reports and traces call it.
---@field keep_alive? boolean False: a run does not go on for it; default true.
---@field on_error? moonloop.ErrorHandler Hears of errors in its handlers first.

---@class moonloop.LoopDescriptorOptions: moonloop.DescriptorOptions
---@field modes? moonloop.Modes Where it is served; default "default".

---Makes a source of a descriptor, which the kernel signals, and adds it.
---Readiness is a level: a handler that leaves something unread is called again in the next pass.
---Ready descriptors take turns.
---Returns `nil, message, code` when the descriptor cannot be watched: "EBADF" for one that is not
---open, "EPERM" for a plain file, which is always ready.
---Raises an error that names the option that is wrong.
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
---@param options moonloop.LoopDescriptorOptions The descriptor and the handlers, of which one must be there.
---@return moonloop.Descriptor? fd The handle.
---@return string? message
---@return string? code
function loop:fd(options) end

---@class moonloop
local ml = {}

---Makes a source of a descriptor without adding it to the loop.
---It is in no mode yet, and is served once `loop:add` has put it into one.
---Returns `nil, message, code` when the descriptor cannot be watched: "EBADF" for one that is not
---open, "EPERM" for a plain file, which is always ready.
---Raises an error that names the option that is wrong.
---```lua
---local input = ml.fd { fd = 0, name = "input", read = function(fd)
---  print(fd:read "l")   --> one
---  fd:invalidate()
---end }
---loop:add(input, "common")
---```
---@param options moonloop.DescriptorOptions The descriptor and the handlers, of which one must be there.
---@return moonloop.Descriptor? fd The handle.
---@return string? message
---@return string? code
function ml.fd(options) end

---Made by `loop:fd` and `ml.fd`; signalled by the kernel.
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

---The events that are watched for.
---"read", "write", both or neither.
---```lua
---local fd <close> = loop:fd { fd = 0, read = print }
---print(fd.enabled[1])   --> read
---```
---@type string[]
fd.enabled = nil

---Reads what is there, without ever waiting.
---`"l"` is a line without its newline, `"L"` with it, `"a"` everything up to the end of file, a
---number at most so many bytes. What was read ahead for a line stays with the handle, and counts as
---readable.
---Returns `nil, message, code`: "EOF" at the end, "EAGAIN" if there is not enough now, "EMSGSIZE"
---for a line longer than 'line_limit', or the system's code.
---Raises an error when the handle is invalid.
---```lua
---loop:fd { fd = 0, read = function(fd)
---  local line, message, code = fd:read "l"
---  if line then print(line)
---  elseif code == "EOF" then fd:invalidate() end
---end }
---```
---@param format? integer|"l"|"L"|"a" As in the io library; default "l".
---@return string? data What was read; nil when there is none.
---@return string? message
---@return string? code
function fd:read(format) end

---Writes as much as there is space for, without ever waiting.
---Returns `nil, message, code` when nothing was written: "EAGAIN", "EPIPE", ...
---Raises an error when the handle is invalid.
---```lua
---local text, socket = "hello", 0   -- the number of a descriptor, however it was made
---loop:fd { fd = socket, write = function(fd)
---  local count = fd:write(text)
---  text = text:sub((count or 0) + 1)
---  if text == "" then fd:invalidate() end
---end }:enable "write"
---```
---@param ... string|number Written one behind the other.
---@return moonloop.Bytes? count How much was written; may be less.
---@return string? message
---@return string? code
function fd:write(...) end

---Watches for events; 'read' is enabled from the start if it has a handler.
---Raises an error when there is no handler for the event, or the handle is invalid.
---```lua
---local fd <close> = loop:fd { fd = 0, read = print, write = print }
---print(table.concat(fd:enable("write").enabled, " "))   --> read write
---```
---@param events moonloop.Events "read", "write", or a list.
---@return moonloop.Descriptor fd The handle itself.
function fd:enable(events) end

---Stops watching for events; they are not lost, as readiness is a level.
---A handle with nothing enabled still keeps its runs alive; see `keep_alive`.
---Raises an error when the handle is invalid.
---```lua
---local fd <close> = loop:fd { fd = 0, read = print }
---print(#fd:disable("read").enabled)   --> 0
---```
---@param events moonloop.Events "read", "write", or a list.
---@return moonloop.Descriptor fd The handle itself.
function fd:disable(events) end
