---@meta _
-- Items

---A timer, source, fd, observer or port. Once it is in a mode the loop holds it, and it ends by
---`item:invalidate()` or, for a one-shot timer, by firing.
---@class moonloop.Item
local item = {}

---The name that it was made with, or an empty string.
---As reports and traces show it.
---```lua
---local timer <close> = loop:timer { every = 1, name = "poll", print }
---print(timer.name)   --> poll
---```
---@type string
item.name = nil

---How often its handler was called.
---Of an invalid timer 0.
---```lua
---local timer <close> = loop:every(1, function() end)
---loop:run { timeout = 3.5 }
---print(timer.fires)   --> 3
---```
---@type integer
item.fires = nil

---Who hears of errors in its handlers before `loop.on_error` does; nil: nobody.
---Gets the same table as `loop.on_error`, and may return "continue" or "stop". The function, or nil
---for none. Settable.
---```lua
---local timer = loop:after(1, function() error("no luck", 0) end)
---timer.on_error = function(e) print(e.message) end   --> no luck
---```
---@type moonloop.ErrorHandler?
item.on_error = nil

---Ends the item for good: it leaves all its modes, and its handlers are let go.
---Has no effect on an item that has ended. May be called anywhere, also in a handler of the item
---itself. A `<close>` variable does the same at the end of its block.
---```lua
---local timer = loop:every(1, print)
---timer:invalidate()
---print(timer:is_valid())   --> false
---```
function item:invalidate() end

---Whether the item can still be served: it has not fired for the last time, nor been invalidated.
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
---@return string[] modes Names; an item of the common modes names each of them.
function item:modes() end

---Says whether a run goes on for this item alone; every item does until told otherwise.
---A run is finished when only items that hold nothing are left in its mode. They are served as
---usual as long as it goes on.
---Raises an error when a source, fd, observer or port is invalid.
---```lua
---local ticks = 0
---loop:every(1, function() ticks = ticks + 1 end):keep_alive(false)
---loop:after(3.5, function() print(ticks) end)   --> 3
---```
---@param holds boolean False: nobody waits for this item.
---@return self item The handle itself, so that calls can be chained.
function item:keep_alive(holds) end

---A source, timer or other item that a Swift program made and handed over.
---For `loop:add`, `remove`, `contains` and `why`; several states may share one. See
---[embedding](../swift.md). In the examples `jobs` is a source and `tick` a timer.
---@class moonloop.ProgramItem
local program_item = {}

---The name that the program gave it.
---As reports and traces show it; may be empty.
---```lua
---print(jobs.name)   --> jobs
---```
---@type string
program_item.name = nil

---Whether a source was signalled and has not performed since, on any loop.
---True while it waits for its turn.  Raises an error when it is no source.
---```lua
---jobs:signal()
---print(jobs.signalled)   --> true
---```
---@type boolean
program_item.signalled = nil

---When a timer is due next, on the clock of `ml.now()`; may be set.
---A timer keeps its date while it is on no loop. The date; nil when it has ended.  Raises an error
---when it is no timer, or is on another loop. Settable.
---```lua
---tick.next_fire = ml.now() + 5
---loop:add(tick)
---loop:run { timeout = 6 }   --> tick
---```
---@type moonloop.Seconds?
program_item.next_fire = nil

---Marks a source: one of the loops that it is in performs it, whichever looks first.
---Wakes no loop, as with a source of a script.
---Raises an error when it is no source, or has ended.
---```lua
---loop:add(jobs)   -- `jobs`: a source of the program
---jobs:signal()    --> jobs performed
---loop:after(1, function() jobs:invalidate() end)
---```
function program_item:signal() end

---Ends the item for good, in all loops that it is in.
---Has no effect on one that has ended. A `<close>` variable does the same at the end of its block.
---Dropping the handle does not: the item is the program's.
---Raises an error when it is on another loop, unless it is a source or port.
---```lua
---jobs:invalidate()
---print(jobs:is_valid())   --> false
---```
function program_item:invalidate() end

---Whether the item has not ended.
---```lua
---print(jobs:is_valid())   --> true
---```
---@return boolean valid False once it has ended, on whatever loop.
function program_item:is_valid() end

---The modes of this loop that the item is in.
---```lua
---loop:add(tick, { "default", "tracking" })   -- `tick`: a timer of the program
---print(#tick:modes())   --> 2
---loop:remove(tick, { "default", "tracking" })
---```
---@return string[] modes Names; none if it is only on other loops.
function program_item:modes() end
