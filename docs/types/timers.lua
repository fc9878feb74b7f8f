---@meta _
-- Timers

---@class moonloop.Loop
local loop = {}

---@class moonloop.TimerOptions
---@field [1] fun(timer: moonloop.Timer, missed: integer) The handler; `missed` counts the fires that fell into one because they came too late.
---@field first? moonloop.Seconds From now to the first fire; default: 'every'. May be < 0.
---@field every? moonloop.Seconds The interval, > 0; without it the timer fires once.
---@field tolerance? moonloop.Seconds How much later than due it may fire; default 0.
---@field name? string What reports and traces call it.
---@field keep_alive? boolean False: a run does not go on for it; default true.
---@field on_error? moonloop.ErrorHandler Hears of errors in its handlers first.

---@class moonloop.LoopTimerOptions: moonloop.TimerOptions
---@field modes? moonloop.Modes Where it is served; default "default".

---Makes a timer and adds it.
---Fires lie on a fixed grid: a late handler does not move the next ones, and those that come too
---late are one call.
---Raises an error that names the option that is wrong.
---```lua
---loop:timer { first = 1, every = 0.25, tolerance = 0.05, modes = "common", name = "poll",
---  function(timer, missed)
---    print(missed)   --> 0
---    timer:invalidate()
---  end }
---```
---@param options moonloop.LoopTimerOptions When it fires, and the handler as first element; 'first' or 'every' must be there.
---@return moonloop.Timer timer The timer.
function loop:timer(options) end

---Calls a function once, after a delay, in the default mode.
---Raises an error for a delay that is negative or no number.
---```lua
---loop:after(2, function() print "once" end)   --> once
---```
---@param delay moonloop.Seconds From now; 0 is the next pass, never at once.
---@param handler fun(timer: moonloop.Timer, missed: integer) The function.
---@return moonloop.Timer timer A timer that fires once.
function loop:after(delay, handler) end

---Calls a function again and again, in the default mode.
---Raises an error for an interval that is not > 0.
---```lua
---loop:every(60, function(timer)
---  print "a minute"   --> a minute
---  timer:invalidate()
---end)
---```
---@param interval moonloop.Seconds > 0; also the delay of the first call.
---@param handler fun(timer: moonloop.Timer, missed: integer) The function.
---@return moonloop.Timer timer A timer that repeats.
function loop:every(interval, handler) end

---Calls a function once at a date of the wall clock, and follows when that clock is set.
---Returns `nil, message, code` when the system has no timer for it left ("EMFILE").
---Raises an error for a date that is no finite number.
---```lua
---loop:at(os.time { year = 2001, month = 1, day = 1 }, function() print "past" end)   --> past
---```
---@param epoch moonloop.Seconds As `os.time()` gives it.
---@param handler fun(timer: moonloop.Timer, missed: integer) The function.
---@return moonloop.Timer? timer A timer that fires once.
---@return string? message
---@return string? code
function loop:at(epoch, handler) end

---@class moonloop
local ml = {}

---Makes a timer without adding it to the loop.
---It is in no mode yet, and is served once `loop:add` has put it into one.
---Raises an error that names the option that is wrong.
---```lua
---local timer = ml.timer { first = 1, function() print "fired" end }   --> fired
---loop:add(timer, { "default", "tracking" })
---```
---@param options moonloop.TimerOptions When it fires, and the handler as first element; 'first' or 'every' must be there.
---@return moonloop.Timer timer The timer.
function ml.timer(options) end

---Made by `loop:timer`, `loop:after`, `loop:every`, `loop:at` and `ml.timer`.
---@class moonloop.Timer: moonloop.Item
local timer = {}

---When the timer is due next, on the clock of `ml.now()`.
---Setting it moves one fire; a repeating timer goes on from there. A date in the past is due at
---once. Infinity is never. Setting it raises an error when the timer is invalid. The date; nil when
---it is invalid. Settable.
---```lua
---local timer = loop:every(60, function(timer) timer:invalidate() end)
---timer.next_fire = ml.now() + 5
---print(("%.1f s"):format(timer.next_fire - ml.now()))   --> 5.0 s
---```
---@type moonloop.Seconds?
timer.next_fire = nil

---The distance of its fires; 0 for a one-shot timer.
---Nil when the timer is invalid.
---```lua
---local timer <close> = loop:every(0.25, print)
---print(timer.interval)   --> 0.25
---```
---@type moonloop.Seconds?
timer.interval = nil

---How much later than due it may fire, so that wake-ups can be shared.
---Of a repeating timer at most half of the interval. Nil when the timer is invalid.
---```lua
---local timer <close> = loop:timer { every = 1, tolerance = 0.25, print }
---print(timer.tolerance)   --> 0.25
---```
---@type moonloop.Seconds?
timer.tolerance = nil

---Sets the next fire to a delay from now.
---Works in a one-shot timer too, also in its own handler. A repeating timer keeps its interval; its
---grid starts anew at the new date.
---Raises an error when the timer is invalid.
---```lua
---local tries = 0
---loop:after(1, function(timer)
---  tries = tries + 1
---  if tries < 3 then timer:again(0.5) end
---end)
---loop:run()
---print(tries)   --> 3
---```
---@param delay moonloop.Seconds From now; 0 is the next pass, never at once.
function timer:again(delay) end
