---@meta _
-- Open files

---An open file. Its methods fail with "EBADF" once it is closed.
---@class moonloop.File
---@field path string The path it was opened with.
local file = {}

---@class moonloop.FilePlaceOptions: moonloop.FsOptions
---@field at? integer The first byte, from 0; default: after the last read or write.

---Reads up to this many bytes, and at most 1 GiB; an empty string at the end.
---```lua
---loop:task(function()
---  local file <close> = assert(ml.fs.temporary_file())
---  file:write "some text"
---  print(file:read(4, { at = 5 }))               --> text
---  ml.fs.remove(file.path)
---end)
---```
---@async
---@param count integer How many at most.
---@param options? moonloop.FilePlaceOptions The timeout, and more.
---@return string? bytes What was read.
---@return string? message
---@return string? code
function file:read(count, options) end

---@class moonloop.FileLinesOptions: moonloop.FsOptions
---@field line_limit? moonloop.Bytes The longest line; default 1 MiB.

---Iterates over the lines, without their newlines, from where the file stands.
---Reads ahead, 64 KiB at a time: where a loop is left early, the file stands further on than the
---line that came last. The timeout is that of each read. Raises an error when a read fails, and at
---a line that is longer than 'line_limit'.
---```lua
---loop:task(function()
---  local file <close> = assert(ml.fs.open "/proc/self/status")
---  for line in file:lines() do
---    if line:find "^Threads" then print(line:match "%d" ~= nil) end   --> true
---  end
---end)
---```
---@async
---@param options? moonloop.FileLinesOptions The timeout, and more.
---@return fun(): string? next Returns a line; nil at the end.
function file:lines(options) end

---Writes all of a text.
---```lua
---loop:task(function()
---  local file <close> = assert(ml.fs.temporary_file())
---  file:write("text"):write("T", { at = 0 })
---  print(file:read(4, { at = 0 }))               --> Text
---  ml.fs.remove(file.path)
---end)
---```
---@async
---@param text string What to write.
---@param options? moonloop.FilePlaceOptions The timeout, and more.
---@return moonloop.File? file The same file.
---@return string? message
---@return string? code
function file:write(text, options) end

---Returns what `ml.fs.stat` does.
---```lua
---loop:task(function()
---  local file <close> = assert(ml.fs.open "/dev/null")
---  print(file:stat().kind)                       --> char
---end)
---```
---@async
---@param options? moonloop.FsOptions The timeout, and more.
---@return moonloop.FileStatus? status What the system knows.
---@return string? message
---@return string? code
function file:stat(options) end

---Cuts the file, or extends it with zeros.
---```lua
---loop:task(function()
---  local file <close> = assert(ml.fs.temporary_file())
---  file:write "text"
---  file:truncate(2)
---  print(file:read(9, { at = 0 }))               --> te
---  ml.fs.remove(file.path)
---end)
---```
---@async
---@param size integer Bytes.
---@param options? moonloop.FsOptions The timeout, and more.
---@return true? done Whether it was done.
---@return string? message
---@return string? code
function file:truncate(size, options) end

---@class moonloop.FileSyncOptions: moonloop.FsOptions
---@field data_only? boolean Leave out times and other metadata; default false.

---Waits until everything written is on the disk.
---```lua
---loop:task(function()
---  local file <close> = assert(ml.fs.temporary_file())
---  print(file:write("text"):sync())              --> true
---  ml.fs.remove(file.path)
---end)
---```
---@async
---@param options? moonloop.FileSyncOptions The timeout, and more.
---@return true? done Whether it was done.
---@return string? message
---@return string? code
function file:sync(options) end

---@class moonloop.FileLockOptions: moonloop.FsOptions
---@field shared? boolean Several may hold it at a time; default false.

---Locks the file against other programs that lock it, and waits while one of them holds it.
---A lock of flock(2): it ends with `unlock`, or when the file is closed. Tries again every 1 to 100
---ms of the loop's time.
---```lua
---loop:task(function()
---  local one <close> = assert(ml.fs.temporary_file())
---  local other <close> = assert(ml.fs.open(one.path, "r+"))
---  print(one:lock())                                     --> true
---  print(select(3, other:lock { timeout = 0.5 }))        --> ETIMEDOUT
---  one:unlock()
---  print(other:lock())                                   --> true
---  ml.fs.remove(one.path)
---end)
---```
---@async
---@param options? moonloop.FileLockOptions The timeout, and more.
---@return true? done Whether it was done.
---@return string? message
---@return string? code
function file:lock(options) end

---Unlocks this file.
---```lua
---loop:task(function()
---  local file <close> = assert(ml.fs.temporary_file())
---  file:lock()
---  print(file:unlock())                          --> true
---  ml.fs.remove(file.path)
---end)
---```
---@async
---@param options? moonloop.FsOptions The timeout, and more.
---@return true? done Whether it was done.
---@return string? message
---@return string? code
function file:unlock(options) end

---Closes the file.
---A `<close>` variable does so at the end of its block, without waiting.
---```lua
---loop:task(function()
---  local file = assert(ml.fs.open "/dev/null")
---  print(file:close())                           --> true
---  print(select(3, file:close()))                --> EBADF
---end)
---```
---@async
---@return true? done Whether it was done.
---@return string? message
---@return string? code
function file:close() end
