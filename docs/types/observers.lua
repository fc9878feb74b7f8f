---@meta _
-- Observers

---@class moonloop.Loop
local loop = {}

---@class moonloop.ObserverOptions
---@field [1] (fun(observer: moonloop.Observer, activity: moonloop.Activity))? The handler.
---@field handler? fun(observer: moonloop.Observer, activity: moonloop.Activity) The same by name, as in configurations.
---@field on moonloop.Activity|moonloop.Activity[] The activities it is called for, one or a list.
---@field order? integer Position among the observers of an activity, lowest first; default 0.
---@field repeats? boolean False: it ends after its first call; default true.
---@field name? string Name in reports and traces.
---@field keep_alive? boolean Accepted without effect: an observer never keeps a run alive.
---@field on_error? moonloop.ErrorHandler Called first for errors in its handlers.

---@class moonloop.LoopObserverOptions: moonloop.ObserverOptions
---@field modes? moonloop.Modes Modes in which it is served; default "default".

---Makes an observer, which is called at stages of a run, and adds it.
---An observer does not keep a run alive. Raises an error that names the wrong option or activity.
---```lua
---loop:observer { on = { "entry", "exit" }, function(observer, activity)
---  print(activity)   --> entry
---end }
---loop:after(1, function() end)
---loop:run()   --> exit
---```
---@param options moonloop.LoopObserverOptions The activities, with the handler as the first element.
---@return moonloop.Observer observer The observer.
function loop:observer(options) end

---@class moonloop
local ml = {}

---Makes an observer without adding it to the loop.
---It is in no mode until `loop:add` adds it to one. Raises an error that names the wrong option.
---```lua
---local observer = ml.observer { on = "exit", function() print "the run is over" end }
---loop:add(observer)
---loop:after(1, function() end)
---loop:run()   --> the run is over
---observer:invalidate()
---```
---@param options moonloop.ObserverOptions The activities, with the handler as the first element.
---@return moonloop.Observer observer The observer.
function ml.observer(options) end

---Called at stages of a run; made by `loop:observer` and `ml.observer`.
---@class moonloop.Observer: moonloop.Item
local observer = {}

---Position among the observers of an activity, lowest first.
---Fixed when it is made; default 0.
---```lua
---local observer <close> = loop:observer { on = "exit", order = 7, print }
---print(observer.order)   --> 7
---```
---@type integer
observer.order = nil

---Whether it goes on after its first call.
---Fixed when it is made; default true.
---```lua
---local observer <close> = loop:observer { on = "exit", repeats = false, print }
---print(observer.repeats)   --> false
---```
---@type boolean
observer.repeats = nil
