---@meta _
-- Recordings

---@class moonloop.Loop
local loop = {}

---Records all input from outside, from the start of the program.
---`moonloop replay FILE` then runs the script again, offline and at once, with the same output. For
---programs of `moonloop run`; call it early in the main script, while all earlier input is still in
---memory. The recording ends with the program. Returns `nil, message, code`: the system's when the
---file cannot be made; "EALREADY" when the program is already being recorded; "ENOTSUP" when
---earlier input is lost: in a module, after more than a megabyte, with workers, in an embedding
---program.
---```lua
---local recording, why, code = loop:record "/nowhere/run.mlt"
---if not recording then print "not recorded" end   --> not recorded
---```
---@param path string The file, readable only for its user.
---@return moonloop.Recording? recording Ends the recording before the program does.
---@return string? message
---@return string? code
function loop:record(path) end

---A recording of this program, made by `loop:record`.
---@class moonloop.Recording
local recording = {}

---Ends the recording here; a replay ends at the same point. `<close>` does the same.
---Returns `nil, message, code` if it could not be written completely.
---```lua
---local recording = loop:record "/nowhere/run.mlt"
---if recording then recording:invalidate() end
---```
function recording:invalidate() end

---Whether it is still recording.
---```lua
---local recording = loop:record "/nowhere/run.mlt"
---if recording then print(recording:is_valid()) end
---```
---@return boolean valid False once it has ended.
function recording:is_valid() end
