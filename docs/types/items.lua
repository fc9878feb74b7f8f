---@meta _
-- Items

---A timer, source, fd, observer, port, worker, signal, watch or server.
---Once it is in a mode the loop holds it, until `item:invalidate()` ends it or, for a one-shot
---timer, it has fired.
---@class moonloop.Item
local item = {}

---The name given when it was made, or an empty string.
---Reports and traces show it.
---```lua
---local timer <close> = loop:timer { every = 1, name = "poll", print }
---print(timer.name)   --> poll
---```
---@type string
item.name = nil

---How often its handler was called.
---0 for an invalid timer.
---```lua
---local timer <close> = loop:every(1, function() end)
---loop:run { timeout = 3.5 }
---print(timer.fires)   --> 3
---```
---@type integer
item.fires = nil

---Called first for errors in its handlers, before `loop.on_error`.
---Receives the same table as `loop.on_error`, and may return "continue" or "stop". Nil for none.
---Settable.
---```lua
---local timer = loop:after(1, function() error("no luck", 0) end)
---timer.on_error = function(e) print(e.message) end   --> no luck
---```
---@type moonloop.ErrorHandler?
item.on_error = nil

---Ends the item for good: it leaves all modes and releases its handlers.
---Has no effect on an item that has ended. May be called anywhere, even in the item's own handler.
---A `<close>` variable does the same at the end of its block.
---```lua
---local timer = loop:every(1, print)
---timer:invalidate()
---print(timer:is_valid())   --> false
---```
function item:invalidate() end

---Whether the item is still valid: not invalidated, and not a one-shot timer that has fired.
---```lua
---local timer = loop:after(1, function() end)
---print(timer:is_valid())   --> true
---loop:run()
---print(timer:is_valid())   --> false
---```
---@return boolean valid False once it has ended.
function item:is_valid() end

---The modes that the item is in.
---```lua
---local timer <close> = loop:timer { every = 1, modes = { "default", "tracking" }, print }
---print(#timer:modes())   --> 2
---```
---@return string[] modes Their names; an item in "common" lists each common mode.
function item:modes() end

---Sets whether this item alone keeps a run alive; the default is true.
---A run is finished when its mode only contains items that do not keep it alive. Until then they
---are served as usual. Raises an error when a source, fd, observer or port is invalid.
---```lua
---local ticks = 0
---loop:every(1, function() ticks = ticks + 1 end):keep_alive(false)
---loop:after(3.5, function() print(ticks) end)   --> 3
---```
---@param holds boolean False: a run does not wait for this item.
---@return self item The item itself, so that calls can be chained.
function item:keep_alive(holds) end

---A source, timer or other item that a Swift program made and handed over.
---For `loop:add`, `remove`, `contains` and `why`; several states may share one. See
---[embedding](../swift.md). In the examples `jobs` is a source and `tick` a timer.
---@class moonloop.ProgramItem
local program_item = {}

---The name that the program gave it, or an empty string.
---Reports and traces show it.
---```lua
---print(jobs.name)   --> jobs
---```
---@type string
program_item.name = nil

---Whether a source has been signalled and not performed since, on any loop.
---True while it is waiting for its turn. Raises an error if it is not a source.
---```lua
---jobs:signal()
---print(jobs.signalled)   --> true
---```
---@type boolean
program_item.signalled = nil

---When a timer is due next, on the clock of `ml.now()`.
---A timer on no loop keeps its date. Nil when it has ended. Raises an error if it is not a timer,
---or is on another loop. Settable.
---```lua
---tick.next_fire = ml.now() + 5
---loop:add(tick)
---loop:run { timeout = 6 }   --> tick
---```
---@type moonloop.Seconds?
program_item.next_fire = nil

---Signals a source: the first of its loops that looks performs it.
---Wakes no loop, as for a script's own source. Raises an error if it is not a source, or has ended.
---```lua
---loop:add(jobs)   -- `jobs`: a source of the program
---jobs:signal()    --> jobs performed
---loop:after(1, function() jobs:invalidate() end)
---```
function program_item:signal() end

---Ends the item for good, in all its loops.
---Has no effect on one that has ended. A `<close>` variable does the same at the end of its block.
---Dropping the handle does not: the item belongs to the program. Raises an error when it is on
---another loop, unless it is a source or port.
---```lua
---jobs:invalidate()
---print(jobs:is_valid())   --> false
---```
function program_item:invalidate() end

---Whether the item has not ended yet.
---```lua
---print(jobs:is_valid())   --> true
---```
---@return boolean valid False once it has ended, on any loop.
function program_item:is_valid() end

---The modes of this loop that the item is in.
---```lua
---loop:add(tick, { "default", "tracking" })   -- `tick`: a timer of the program
---print(#tick:modes())   --> 2
---loop:remove(tick, { "default", "tracking" })
---```
---@return string[] modes Their names; empty if it is on other loops only.
function program_item:modes() end
