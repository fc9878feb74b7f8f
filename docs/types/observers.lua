---@meta _
-- Observers

---@class moonloop.Loop
local loop = {}

---@class moonloop.ObserverOptions
---@field [1] fun(observer: moonloop.Observer, activity: moonloop.Activity) The handler.
---@field on moonloop.Activity|moonloop.Activity[] What it hears of, one or a list.
---@field order? integer Its place among the observers of an activity; default 0.
---@field repeats? boolean False: it ends after its first call; default true.
---@field name? string What reports and traces call it.
---@field keep_alive? boolean False: a run does not go on for it; default true.
---@field on_error? moonloop.ErrorHandler Hears of errors in its handlers first.

---@class moonloop.LoopObserverOptions: moonloop.ObserverOptions
---@field modes? moonloop.Modes Where it is served; default "default".

---Makes an observer, which hears of the stages of a run, and adds it.
---An observer keeps no run alive.
---Raises an error that names the option or the activity that is wrong.
---```lua
---loop:observer { on = { "entry", "exit" }, function(observer, activity)
---  print(activity)   --> entry
---end }
---loop:after(1, function() end)
---loop:run()   --> exit
---```
---@param options moonloop.LoopObserverOptions The activities, and the handler as first element.
---@return moonloop.Observer observer The observer.
function loop:observer(options) end

---@class moonloop
local ml = {}

---Makes an observer without adding it to the loop.
---It is in no mode yet, and is served once `loop:add` has put it into one.
---Raises an error that names the option that is wrong.
---```lua
---local observer = ml.observer { on = "exit", function() print "the run is over" end }
---loop:add(observer)
---loop:after(1, function() end)
---loop:run()   --> the run is over
---observer:invalidate()
---```
---@param options moonloop.ObserverOptions The activities, and the handler as first element.
---@return moonloop.Observer observer The observer.
function ml.observer(options) end

---Made by `loop:observer` and `ml.observer`; they hear of the stages of a run.
---@class moonloop.Observer: moonloop.Item
local observer = {}

---Its place among the observers of an activity: the smaller, the earlier.
---As it was made; default 0.
---```lua
---local observer <close> = loop:observer { on = "exit", order = 7, print }
---print(observer.order)   --> 7
---```
---@type integer
observer.order = nil

---Whether it goes on after its first call.
---As it was made; default true.
---```lua
---local observer <close> = loop:observer { on = "exit", repeats = false, print }
---print(observer.repeats)   --> false
---```
---@type boolean
observer.repeats = nil
