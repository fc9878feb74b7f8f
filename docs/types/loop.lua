---@meta _
-- The loop

---The run loop of a thread; `ml.current()` returns it.
---@class moonloop.Loop
local loop = {}

---@class moonloop.RunOptions
---@field mode? string The mode to run; default "default".
---@field timeout? moonloop.Seconds Time limit; default: none. With 0 or less, what is ready is served once.
---@field until_handled? boolean Return after a source, fd or port was served.

---Runs the loop in a mode and returns why the run ended.
---May be called in any handler: the inner run has its own mode, passes and timeout. At the end of
---the main chunk the program runs the default mode by itself, unless the script has already run the
---loop. Raises an error for mode "common", in a finalizer, and when runs are nested too deeply
---(32).
---```lua
---loop:after(1, function() loop:stop "enough" end)
---print(loop:run { timeout = 10 })   --> stopped enough true
---print((loop:run()))   --> finished
---```
---@overload fun(self: moonloop.Loop, mode: string): moonloop.RunResult, any, boolean
---@param options? moonloop.RunOptions How to run, or just the name of the mode.
---@return moonloop.RunResult result Why the run ended.
---@return any value The value passed to `loop:stop`.
---@return boolean stopped Whether the run was stopped, whatever the result.
function loop:run(options) end

---Stops the innermost run, which hands the value to its caller.
---The run ends the next time it looks, not at once. Has no effect when the loop is not running. If
---there are several stops, the first value counts: a stop without one leaves it to later ones.
---```lua
---print(loop:stop())   --> false
---loop:after(1, function() print(loop:stop()) end)   --> true
---loop:run()
---```
---@param value? any Becomes the second result of `run`.
---@return boolean met Whether there was a run to stop.
function loop:stop(value) end

---Stops the innermost run, or the next one if the loop is not running.
---```lua
---loop:every(1, function() end)
---loop:stop_when_next_looking "at once"
---print(loop:run())   --> stopped at once true
---loop:stop_when_next_looking()
---```
---@param value? any Becomes the second result of `run`.
function loop:stop_when_next_looking(value) end

---Wakes the loop, or keeps the current run from going to sleep.
---`source:signal` does not do this. Has no effect when the loop is not running.
---```lua
---local source = loop:source { perform = function(source)
---  print "awake"   --> awake
---  source:invalidate()
---end }
---loop:observer { on = "before_waiting", repeats = false, function()
---  source:signal()
---  loop:wake_up()
---end }
---```
function loop:wake_up() end

---The time of the pass, on the clock of `ml.now()`.
---It is read when it is first asked for in a pass, or after its sleep, and is the same for all
---handlers from then on: cheaper than `ml.now()`, which reads the clock at each call. Outside of
---runs, and on clocks that jump, it is `ml.now()`.
---```lua
---loop:after(0, function() print(loop:now() == loop:now()) end)
---loop:run()   --> true
---```
---@return moonloop.Seconds time With nanosecond precision.
function loop:now() end

---The mode of the innermost run.
---Nil when the loop is not running.
---```lua
---loop:after(1, function() print(loop.mode) end)   --> default
---```
---@type string?
loop.mode = nil

---How many runs are nested now.
---0 when the loop is not running.
---```lua
---loop:after(1, function() print(loop.depth) end)
---loop:run()   --> 1
---```
---@type integer
loop.depth = nil

---Whether the loop sleeps.
---False for code that runs on it; for another thread's loop see `worker.is_waiting`.
---```lua
---loop:after(1, function() print(loop.is_waiting) end)   --> false
---```
---@type boolean
loop.is_waiting = nil

---Called for errors in handlers; nil: they are written to standard error.
---It may return "stop" to stop the innermost run; after anything else the run goes on. Errors never
---unwind the loop and none is lost: an error in this function is written to standard error. Instead
---of a function it may be "stop" or "continue": errors are written, and the run stops or goes on.
---An error of the main chunk ends the program unless this is, or returns, "continue".
---Settable.
---```lua
---loop.on_error = function(e) print(e.message); return "continue" end
---loop:after(1, function() error("no luck", 0) end)
---loop:run()   --> no luck
---```
---@type moonloop.ErrorHandler?
loop.on_error = nil

---How late the system may end a sleep of the loop.
---A sleep that may end later can end together with others. The default of Linux is 0.00005 s; 0 is
---the least that there is, 1 ns, and 1 s the most. A guest needs the grant 'limit'. Settable.
---```lua
---loop.timer_slack = 1e-6
---print(loop.timer_slack)   --> 1e-06
---```
---@type moonloop.Seconds
loop.timer_slack = nil

---How long before a timer's date the loop ends its sleep, to look again and again.
---The processor is busy for that long before each timer, which then is late by less than a
---microsecond or two; 0, the default: the loop sleeps; 1 s is the most. Without effect where time
---jumps, and in recordings. A guest needs the grant 'limit'. Settable.
---```lua
---loop.spin = 0.0001
---loop:after(0.001, function() print "on time" end)   --> on time
---```
---@type moonloop.Seconds
loop.spin = nil

---@class moonloop.PerformOptions
---@field modes? moonloop.Modes Modes in which it is called; default "default".
---@field wake? boolean Wake a sleeping loop; default true.
---@field as_source? boolean A run with 'until_handled' returns after it.
---@field order? integer Position among the waiting functions, lowest first; default 0.
---@field target? any The target, by which `loop:cancel_performs` finds it.

---Queues a function, which is called once in the next pass that runs in one of its modes.
---Queued functions run in order. One that is queued by another runs in a later step. Raises an
---error that names the wrong option.
---```lua
---loop:perform({ modes = { "default", "tracking" } }, print, "second thing")
---print "first thing"   --> first thing
---loop:run()   --> second thing
---```
---@overload fun(self: moonloop.Loop, fn: (fun(...)), ...: any): moonloop.Request
---@param options? moonloop.PerformOptions Optional.
---@param fn fun(...) The function to call.
---@param ... any Arguments for the function.
---@return moonloop.Request request A handle to cancel it with.
function loop:perform(options, fn, ...) end

---@class moonloop.PerformAfterOptions
---@field after moonloop.Seconds Delay, at least 0.
---@field modes? moonloop.Modes Modes in which it is called; default "default".
---@field target? any The target, by which `loop:cancel_performs` finds it.

---Calls a function with arguments once, after a delay.
---Raises an error if the delay is negative or not a number.
---```lua
---loop:perform_after(1, print, "one", "two")   --> one two
---```
---@param delay moonloop.Seconds|moonloop.PerformAfterOptions The delay; or a table of options that includes 'after'.
---@param fn fun(...) The function to call.
---@param ... any Arguments for the function.
---@return moonloop.Request request A handle to cancel it with.
function loop:perform_after(delay, fn, ...) end

---Cancels everything queued for a target and not yet called, including delayed functions.
---Targets are compared as by `rawequal`. Raises an error for nil.
---```lua
---local door = { name = "door" }
---loop:perform({ target = door }, print, "open")
---loop:perform_after({ after = 1, target = door }, print, "close")
---print(loop:cancel_performs(door))   --> 2
---```
---@param target any What was given as 'target'.
---@return integer count How many there were.
function loop:cancel_performs(target) end

---Adds an item to modes; it is served in passes that run in one of them.
---From then on the loop holds the item: dropping the variable does not end it. Adding it twice has
---no effect. "common" adds it to every common mode, now and later. Raises an error when the item
---has ended.
---```lua
---local timer = loop:add(ml.timer { first = 1, function() end }, "tracking")
---print(timer:modes()[1])   --> tracking
---```
---@param item moonloop.Item|moonloop.ProgramItem A timer, source, fd, observer or port.
---@param modes? moonloop.Modes Modes to add it to; default "default".
---@return moonloop.Item|moonloop.ProgramItem item The item itself.
function loop:add(item, modes) end

---Removes an item from modes; it stays valid and can be added again.
---"common" removes a common item from every common mode, and has no effect on other items.
---```lua
---local timer = loop:after(1, print)
---print(#loop:remove(timer):modes())   --> 0
---```
---@param item moonloop.Item|moonloop.ProgramItem A timer, source, fd, observer or port.
---@param modes? moonloop.Modes Modes to remove it from; default "default".
---@return moonloop.Item|moonloop.ProgramItem item The item itself.
function loop:remove(item, modes) end

---Whether an item is in a mode.
---```lua
---local timer <close> = loop:every(1, print)
---print(loop:contains(timer), loop:contains(timer, "common"))   --> true false
---```
---@param item moonloop.Item|moonloop.ProgramItem A timer, source, fd, observer or port.
---@param mode? string Default "default"; "common" asks whether it is a common item.
---@return boolean contained True if it is in that mode.
function loop:contains(item, mode) end

---Returns every mode used so far, with its contents.
---```lua
---local timer <close> = loop:every(1, print)
---print(loop:modes().default.timers)   --> 1
---```
---@return table<string, moonloop.ModeContents> modes The contents by name of the mode.
function loop:modes() end

---Makes a mode one of the common modes, permanently.
---Everything in "common" is added to it. The default mode is a common mode from the start. Returns
---`nil, message, code` when a descriptor of "common" cannot be watched in it; everything else is
---added anyway.
---```lua
---loop:add_common_mode "tracking"
---loop:timer { first = 1, modes = "common", function() print(loop.mode) end }
---loop:run "tracking"   --> tracking
---```
---@param mode string Its name; it may be new.
---@return true? added True on success.
---@return string? message
---@return string? code
function loop:add_common_mode(mode) end

---When the earliest timer of a mode is due, on the clock of `ml.now()`.
---```lua
---local timer <close> = loop:every(2, print)
---print(("%.1f s"):format(loop:next_timer() - ml.now()))   --> 2.0 s
---```
---@param mode? string The mode to look at; default "default".
---@return moonloop.Seconds? date Nil if the mode has no timer.
function loop:next_timer(mode) end

---The contents of a mode.
---@class moonloop.ModeContents
---@field common boolean Whether it is one of the common modes.
---@field empty boolean Whether a run of it would be finished at once.
---@field timers integer Number of timers.
---@field sources integer Number of custom sources.
---@field fds integer Number of descriptors.
---@field ports integer Number of ports.
---@field observers integer Number of observers.
---@field blocks integer Number of queued functions.

---What an error handler receives.
---@class moonloop.Error
---@field message string The error as text.
---@field traceback string The message and the calls that led to it.
---@field handle string The handle whose handler failed, and where it was made.
---@field kind string "runtime", "memoryLimit", "timeLimit", ...
---@field code? string The `code` of an error table.
---@field mode? string The mode of the run, if any.
---@field value? any The error value itself, if it was not a string.

---A queued function, as `loop:perform` and `loop:perform_after` return it.
---@class moonloop.Request
local request = {}

---Cancels the request if it has not been performed yet.
---```lua
---local request = loop:perform(print, "never")
---print(request:cancel(), request:cancel())   --> true false
---```
---@return boolean cancelled Whether it was still pending.
function request:cancel() end

---The same as `cancel`, without a result.
---```lua
---local request = loop:perform_after(1, print, "never")
---request:invalidate()
---```
function request:invalidate() end

---Whether it is still waiting to be performed.
---```lua
---local request = loop:perform(function() end)
---print(request:is_pending())   --> true
---```
---@return boolean pending False once it runs, has run or was cancelled.
function request:is_pending() end

---The same as `is_pending`.
---```lua
---local request = loop:perform(function() end)
---loop:run()
---print(request:is_valid())   --> false
---```
---@return boolean valid False once it runs, has run or was cancelled.
function request:is_valid() end
