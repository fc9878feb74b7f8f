---@meta _
-- Recordings

---@class moonloop.Loop
local loop = {}

---Records all that enters from outside, from the beginning of the program on.
---`moonloop replay FILE` then runs the script again, offline and at once, with the same output. Of
---a program of `moonloop run`; call it early in the main script, so that what came before is still
---in memory. The recording ends with the program.
---Returns `nil, message, code`: of the system when the file cannot be made; "EALREADY" when the
---program is recorded already; "ENOTSUP" when the beginning is lost: in a module, after more than a
---megabyte, with workers, in a program that embeds us.
---```lua
---local recording, why, code = loop:record "/nowhere/run.mlt"
---if not recording then print "not recorded" end   --> not recorded
---```
---@param path string The file; readable for its user alone.
---@return moonloop.Recording? recording Ends it before the program does.
---@return string? message
---@return string? code
function loop:record(path) end

---Made by `loop:record`.
---@class moonloop.Recording
local recording = {}

---Ends the recording here; a replay ends at the same place. `<close>` does the same.
---Returns `nil, message, code` if it could not be written whole.
---```lua
---local recording = loop:record "/nowhere/run.mlt"
---if recording then recording:invalidate() end
---```
function recording:invalidate() end

---Whether it goes on.
---```lua
---local recording = loop:record "/nowhere/run.mlt"
---if recording then print(recording:is_valid()) end
---```
---@return boolean valid False once it has ended.
function recording:is_valid() end
