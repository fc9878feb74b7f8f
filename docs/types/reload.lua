---@meta _
-- Reloading

---@class moonloop
local ml = {}

---Loads the file of the program again, and waits until that is done or has failed.
---It is done between two passes: what the file and its modules make is the next generation. A
---handle that is made again under its name stays what it was, with the new handler; what is not
---made again ends. If the file fails, nothing has changed. See [Reloading](../reload.md).
---Returns `result` (Reloaded?): what was done: `generation`, and how many handles were `kept`,
---`made`, `ended`.
---Returns `nil, message, code`: what is wrong with the file, and where; "ENOENT" without a file
---(`moonloop run -e`), "EBUSY" while its main chunk still waits. Raises an error while the file is
---loaded.
---```lua
---loop:task(function()
---  local done, message, code = ml.reload()
---  print(done, code)   --> nil ENOENT
---end)
---```
---@class moonloop.Reload
---@overload async fun(): moonloop.Reloaded?, string?, string?
ml.reload = {}

---Gives the table under a name that survives when the file is loaded again.
---If a file fails, what it has changed in the table is undone.
---Raises an error if the default is no table.
---```lua
---local stats = ml.reload.state("stats", { hits = 0 })
---stats.hits = stats.hits + 1
---print(ml.reload.state("stats").hits)   --> 1
---```
---@param name string Its name, of the program's choice.
---@param default? table The table the first time; else an empty one.
---@return table state The same table for each generation.
function ml.reload.state(name, default) end

---Has a function called when the next generation is loaded, before this one ends.
---The last one first. They are not called when the program ends.
---```lua
---ml.reload.on_unload(function() print "leaving" end)
---```
---@param handler fun() It must not wait.
function ml.reload.on_unload(handler) end

---Tells how often the file was loaded.
---```lua
---print(ml.reload.generation())   --> 1
---```
---@return integer generation 1 before anything was loaded again.
function ml.reload.generation() end

---What loading a file again has done.
---@class moonloop.Reloaded
---@field generation integer The number of the generation; the first is 1.
---@field kept integer Handles that were made again under their names.
---@field made integer Handles and tasks that are new.
---@field ended integer Handles and tasks that were not made again.
