---@meta _
-- Reloading

---@class moonloop
local ml = {}

---Reloads the program's file, and waits until that is done or has failed.
---This happens between two passes: what the file and its modules make is the next generation. A
---handle that is made again under its name stays, with the new handler; handles that are not made
---again end. If the file fails, nothing has changed. Returns what was done; or `nil, message,
---code`: what is wrong with the file, and where; "ENOENT" without a file (`moonloop run -e`),
---"EBUSY" while its main chunk is still waiting. Raises an error while the file is being loaded.
---See [Reloading](../reload.md).
---```lua
---loop:task(function()
---  local done, message, code = ml.reload()
---  print(done, code)   --> nil ENOENT
---end)
---```
---@class moonloop.Reload
---@overload async fun(): moonloop.Reloaded?, string?, string?
ml.reload = {}

---Returns a table, by name, that survives when the file is reloaded.
---If a file fails, its changes to the table are undone. Raises an error if the default is not a
---table.
---```lua
---local stats = ml.reload.state("stats", { hits = 0 })
---stats.hits = stats.hits + 1
---print(ml.reload.state("stats").hits)   --> 1
---```
---@param name string A name of your choice.
---@param default? table The table to use the first time; default: an empty one.
---@return table state The same table in each generation.
function ml.reload.state(name, default) end

---Sets a function to call when the next generation is loaded, before this one ends.
---Called in reverse order of setting, but not when the program ends.
---```lua
---ml.reload.on_unload(function() print "leaving" end)
---```
---@param handler fun() Must not wait.
function ml.reload.on_unload(handler) end

---Returns how often the file was loaded.
---```lua
---print(ml.reload.generation())   --> 1
---```
---@return integer generation 1 before the first reload.
function ml.reload.generation() end

---What a reload has done.
---@class moonloop.Reloaded
---@field generation integer The number of the generation; the first is 1.
---@field kept integer Handles that were made again under their names.
---@field made integer New handles and tasks.
---@field ended integer Handles and tasks that were not made again.
