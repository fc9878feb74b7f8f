---@meta _
-- File watches

---@class moonloop.Loop
local loop = {}

---@class moonloop.WatchOptions
---@field [1] string The path of a file or folder.
---@field [2] (fun(watch: moonloop.Watch, changes: moonloop.FileChange[]))? The handler.
---@field handler? fun(watch: moonloop.Watch, changes: moonloop.FileChange[]) The same by name, as in configurations.
---@field debounce? moonloop.Seconds How long it must be quiet before changes are reported; default 0.05.
---@field recursive? boolean Watch subfolders as well.
---@field name? string Name in reports and traces.
---@field keep_alive? boolean Whether this item alone keeps a run alive; default true.
---@field on_error? moonloop.ErrorHandler Called first for errors in its handlers.

---@class moonloop.LoopWatchOptions: moonloop.WatchOptions
---@field modes? moonloop.Modes Modes in which it is served; default "default".

---Calls a function when a file, a folder or something in that folder changes.
---The path is watched, not the file: it need not exist yet, and may be replaced or deleted and made
---again. The changes are the net effect since the last call: what came and went is not reported.
---Entries of a folder have its path before their name. Returns `nil, message, code` when the system
---refuses: "ENOSPC" when the user's limit of watched folders is reached, "EACCES", "EMFILE".
---```lua
---local path = os.tmpname()
---loop:watch { path, function(watch, changes)
---  print(#changes, changes[1].kind)   --> 1 changed
---  watch:invalidate()
---  os.remove(path)
---end }
---io.open(path, "w"):write("new"):close()
---```
---@param options moonloop.LoopWatchOptions The path, the handler, and how to watch.
---@return moonloop.Watch? watch The handle.
---@return string? message
---@return string? code
function loop:watch(options) end

---@class moonloop
local ml = {}

---Makes a file watch without adding it to the loop; changes are collected from now on.
---It is in no mode until `loop:add` adds it to one. Returns `nil, message, code` when the system
---refuses: "ENOSPC" when the user's limit of watched folders is reached, "EACCES", "EMFILE".
---```lua
---local path = os.tmpname()
---local watch = ml.watch { path, debounce = 0, function(watch, changes)
---  print(changes[1].kind, changes[1].path == path)   --> deleted true
---  watch:invalidate()
---end }
---os.remove(path)
---loop:add(watch, "common")
---```
---@param options moonloop.WatchOptions The path, the handler, and how to watch.
---@return moonloop.Watch? watch The handle.
---@return string? message
---@return string? code
function ml.watch(options) end

---Reports changes of files and folders; made by `loop:watch` and `ml.watch`.
---@class moonloop.Watch: moonloop.Item
local watch = {}

---The watched path, as it was given.
---Nil once the watch has ended.
---```lua
---local watch <close> = loop:watch { "/tmp/", print }
---print(watch.path)   --> /tmp
---```
---@type string?
watch.path = nil

---One change of a file or folder.
---@class moonloop.FileChange
---@field path string What has changed; after a rename, its new path.
---@field kind "created"|"changed"|"deleted"|"renamed"|"attributes"|"overflow" How; "overflow": events were lost, and the other changes were found by looking at everything.
---@field replaced? boolean A different file is there now.
---@field from? string The old path of what was renamed.
