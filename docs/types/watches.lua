---@meta _
-- File watches

---@class moonloop.Loop
local loop = {}

---@class moonloop.WatchOptions
---@field [1] string The path of a file or folder.
---@field [2] fun(watch: moonloop.Watch, changes: moonloop.FileChange[]) The handler.
---@field debounce? moonloop.Seconds How long it must be quiet before changes are told; default 0.05.
---@field recursive? boolean True: folders in the folder are watched as well.
---@field name? string What reports and traces call it.
---@field keep_alive? boolean False: a run does not go on for it; default true.
---@field on_error? moonloop.ErrorHandler Hears of errors in its handlers first.

---@class moonloop.LoopWatchOptions: moonloop.WatchOptions
---@field modes? moonloop.Modes Where it is served; default "default".

---Calls a function when a file or a folder, or something in that folder, has changed.
---The path is watched, not the file: it need not be there yet, may be replaced, or go and come
---again. What is told is the effect of all that happened since the last call; what came and went is
---nothing. Entries of a folder have its path before their name.
---Returns `nil, message, code` when the system refuses: "ENOSPC" when a user's limit of watched
---folders is reached, "EACCES", "EMFILE".
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

---Makes a file watch without adding it to the loop; what changes from now on is told later.
---It is in no mode yet, and is served once `loop:add` has put it into one.
---Returns `nil, message, code` when the system refuses: "ENOSPC" when a user's limit of watched
---folders is reached, "EACCES", "EMFILE".
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

---Made by `loop:watch` and `ml.watch`; they hear of changes of files and folders.
---@class moonloop.Watch: moonloop.Item
local watch = {}

---The path that is watched, as it was given.
---Nil once the watch has ended.
---```lua
---local watch <close> = loop:watch { "/tmp/", print }
---print(watch.path)   --> /tmp
---```
---@type string?
watch.path = nil

---One change of a file or folder.
---@class moonloop.FileChange
---@field path string What has changed; what was renamed has its new path here.
---@field kind "created"|"changed"|"deleted"|"renamed"|"attributes"|"overflow" How; "overflow": events were lost, and the others were found by looking at all.
---@field replaced? boolean True: what has changed is another file now.
---@field from? string The old path of what was renamed.
