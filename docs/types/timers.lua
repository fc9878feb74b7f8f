---@meta _
-- Timers

---@class moonloop.Loop
local loop = {}

---@class moonloop.TimerOptions
---@field [1] (fun(timer: moonloop.Timer, missed: integer))? The handler; `missed` counts the fires that this call also stands for because they came too late.
---@field handler? fun(timer: moonloop.Timer, missed: integer) The same by name, as in configurations.
---@field first? moonloop.Seconds Delay of the first fire; default: 'every'. May be negative.
---@field at? moonloop.Seconds A date as `os.time()` returns it, as for `loop:at`; instead of 'first' and 'every'.
---@field every? moonloop.Seconds Interval between fires, > 0; without it the timer fires once.
---@field tolerance? moonloop.Seconds How much later than due it may fire; default 0.
---@field name? string Name in reports and traces.
---@field keep_alive? boolean Whether this item alone keeps a run alive; default true.
---@field on_error? moonloop.ErrorHandler Called first for errors in its handlers.

---@class moonloop.LoopTimerOptions: moonloop.TimerOptions
---@field modes? moonloop.Modes Modes in which it is served; default "default".

---Makes a timer and adds it.
---Fires stay on a fixed grid: a late handler does not move the next ones, and fires that come too
---late are merged into one call. Raises an error that names the wrong option.
---```lua
---loop:timer { first = 1, every = 0.25, tolerance = 0.05, modes = "common", name = "poll",
---  function(timer, missed)
---    print(missed)   --> 0
---    timer:invalidate()
---  end }
---```
---@param options moonloop.LoopTimerOptions When it fires, with the handler as the first element; one of 'first', 'every' and 'at' is required.
---@return moonloop.Timer timer The timer.
function loop:timer(options) end

---Calls a function once after a delay, in the default mode.
---Raises an error if the delay is negative or not a number, and for arguments after the handler:
---`loop:perform_after` passes them on.
---```lua
---loop:after(2, function() print "once" end)   --> once
---```
---@param delay moonloop.Seconds Delay; 0 means the next pass, never at once.
---@param handler fun(timer: moonloop.Timer, missed: integer) The function to call.
---@return moonloop.Timer timer A one-shot timer.
function loop:after(delay, handler) end

---Calls a function repeatedly, in the default mode.
---Raises an error unless the interval is > 0.
---```lua
---loop:every(60, function(timer)
---  print "a minute"   --> a minute
---  timer:invalidate()
---end)
---```
---@param interval moonloop.Seconds Interval, > 0; also the delay of the first call.
---@param handler fun(timer: moonloop.Timer, missed: integer) The function to call.
---@return moonloop.Timer timer A repeating timer.
function loop:every(interval, handler) end

---Calls a function once at a date of the wall clock, even if that clock is changed.
---Returns `nil, message, code` when the system has no timer left ("EMFILE"). Raises an error if the
---date is not a finite number.
---```lua
---loop:at(os.time { year = 2001, month = 1, day = 1 }, function() print "past" end)   --> past
---```
---@param epoch moonloop.Seconds A date as `os.time()` returns it.
---@param handler fun(timer: moonloop.Timer, missed: integer) The function to call.
---@return moonloop.Timer? timer A one-shot timer.
---@return string? message
---@return string? code
function loop:at(epoch, handler) end

---@class moonloop.CronOptions
---@field [1] string The schedule.
---@field [2] fun(timer: moonloop.Timer, missed: integer) The handler.
---@field zone? string Time zone, such as "Europe/Berlin" or "UTC"; default: the machine's. Needs the system's tzdata.
---@field tolerance? moonloop.Seconds How much later than due it may fire; default 0.
---@field modes? moonloop.Modes Modes in which it is served; default "default".
---@field name? string Name in reports and traces.
---@field keep_alive? boolean Whether this item alone keeps a run alive; default true.
---@field on_error? moonloop.ErrorHandler Called first for errors in its handlers.

---Calls a function at the dates of a schedule, in cron's syntax.
---Five fields: minute, hour, day of the month, month, day of the week (0 and 7 are Sunday). Each is
---`*`, a number, a name (`jan`, `mon`), a range (`mon-fri`), `*` or a range with a step (`*/15`,
---`9-17/2`), or a list of these. If both day fields are restricted, either may match; one that
---begins with `*`, such as `*/10`, is not restricted in this sense, as in Vixie's cron: then both
---must match. Also `@hourly`, `@daily`, `@midnight`, `@weekly`, `@monthly`, `@yearly` and
---`@annually`. May also be called with one table, for a time zone and other options.
---
---When clocks go forward over a date, it is due at the moment of the change; when they go back, it
---is due the first time only. A schedule whose minute or hour begins with `*` goes by what the
---clocks show instead: what they skip is left out, what they show twice is due twice. Dates that
---pass while the handler waits or the machine sleeps are merged into one call, and `missed` counts
---them, up to 1,000. Setting the wall clock back does not repeat a date. Raises an error that says
---which field is wrong.
---```lua
---loop:cron { "30 2 * * mon-fri", zone = "UTC", function(timer)
---  print(os.date "!%H:%M")   --> 02:30
---  timer:invalidate()
---end }
---```
---@param schedule string|moonloop.CronOptions Such as "0 3 * * *": each day at three.
---@param handler? fun(timer: moonloop.Timer, missed: integer) The function to call.
---@return moonloop.Timer timer A timer; it gets its next date as it fires.
function loop:cron(schedule, handler) end

---@class moonloop
local ml = {}

---Makes a timer without adding it to the loop.
---It is in no mode until `loop:add` adds it to one. Raises an error that names the wrong option.
---```lua
---local timer = ml.timer { first = 1, function() print "fired" end }   --> fired
---loop:add(timer, { "default", "tracking" })
---```
---@param options moonloop.TimerOptions When it fires, with the handler as the first element; one of 'first', 'every' and 'at' is required.
---@return moonloop.Timer timer The timer.
function ml.timer(options) end

---Made by `loop:timer`, `loop:after`, `loop:every`, `loop:at` and `ml.timer`.
---@class moonloop.Timer: moonloop.Item
local timer = {}

---When the timer is due next, on the clock of `ml.now()`.
---Setting it moves the next fire; a repeating timer goes on from there. A date in the past is due
---at once, infinity means never. Nil for an invalid timer, for which setting it raises an error.
---Settable.
---```lua
---local timer = loop:every(60, function(timer) timer:invalidate() end)
---timer.next_fire = ml.now() + 5
---print(("%.1f s"):format(timer.next_fire - ml.now()))   --> 5.0 s
---```
---@type moonloop.Seconds?
timer.next_fire = nil

---Interval between fires; 0 for a one-shot timer.
---Nil for an invalid timer.
---```lua
---local timer <close> = loop:every(0.25, print)
---print(timer.interval)   --> 0.25
---```
---@type moonloop.Seconds?
timer.interval = nil

---How much later than due it may fire, so that wake-ups can be shared.
---At most half the interval for a repeating timer. Nil for an invalid timer, for which setting it
---raises an error, as does a negative one. Settable.
---```lua
---local timer <close> = loop:timer { every = 1, tolerance = 0.25, print }
---print(timer.tolerance)   --> 0.25
---timer.tolerance = 3
---print(timer.tolerance)   --> 0.5
---```
---@type moonloop.Seconds?
timer.tolerance = nil

---Sets the next fire to a delay from now.
---Works for one-shot timers too, even in their own handler. A repeating timer keeps its interval;
---its grid starts again at the new date. Raises an error for an invalid timer.
---```lua
---local tries = 0
---loop:after(1, function(timer)
---  tries = tries + 1
---  if tries < 3 then timer:again(0.5) end
---end)
---loop:run()
---print(tries)   --> 3
---```
---@param delay moonloop.Seconds Delay; 0 means the next pass, never at once.
function timer:again(delay) end

---Sets the next fire to a date of the wall clock, even if that clock is changed.
---Works for one-shot timers too, even in their own handler. Returns `nil, message, code` when the
---system has no timer left ("EMFILE"). Raises an error for an invalid timer.
---```lua
---local begin = os.time()
---loop:at(begin, function(timer)
---  if timer.fires < 3 then timer:again_at(os.time() + 3600) end
---end)
---loop:run()
---print(os.time() - begin)   --> 7200
---```
---@param epoch moonloop.Seconds A date as `os.time()` returns it.
---@return true? done
---@return string? message
---@return string? code
function timer:again_at(epoch) end

---Calls the handler now, whatever the date and the modes.
---The dates of a repeating timer stay as they are, and `missed` is 0; a timer that fires once is
---invalid afterwards. It is not called if it is already running or waiting. Raises an error for an
---invalid timer.
---```lua
---local timer <close> = loop:every(60, function(timer) print "called" end)
---print(timer:fire())   --> called
-----> true
---print(("%.0f s"):format(timer.next_fire - ml.now()))   --> 60 s
---```
---@return boolean called Whether the handler was called.
function timer:fire() end
