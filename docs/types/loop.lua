---@meta _
-- The loop

---There is one for a thread, and `ml.current()` finds it.
---@class moonloop.Loop
local loop = {}

---@class moonloop.RunOptions
---@field mode? string Default "default".
---@field timeout? moonloop.Seconds How long; default: for ever. 0 or less: serves what is ready and returns.
---@field until_handled? boolean True: returns after a source, fd or port was served.

---Runs the loop in a mode until there is a reason to return, which it gives.
---May be called in any handler: the inner run has its own mode, passes and time limit. At the end
---of the main chunk the program runs the default mode by itself, unless the script has run its
---loop.
---Raises an error for mode "common", in a finalizer, and when runs are nested too deep (32).
---```lua
---loop:after(1, function() loop:stop "enough" end)
---print(loop:run { timeout = 10 })   --> stopped enough true
---print((loop:run()))   --> finished
---```
---@overload fun(self: moonloop.Loop, mode: string): moonloop.RunResult, any, boolean
---@param options? moonloop.RunOptions How to run, or just the name of the mode.
---@return moonloop.RunResult result Why it returned.
---@return any value What `loop:stop` handed over.
---@return boolean stopped Whether a stop met the run, whatever the result.
function loop:run(options) end

---Ends the innermost run at the next place where it looks, and hands a value to its caller.
---When the loop does not run it has no effect, and says so.
---```lua
---print(loop:stop())   --> false
---loop:after(1, function() print(loop:stop()) end)   --> true
---loop:run()
---```
---@param value? any The second result of `run`.
---@return boolean met Whether there was a run to stop.
function loop:stop(value) end

---Ends the innermost run, or the next one if the loop does not run: it is remembered.
---```lua
---loop:every(1, function() end)
---loop:stop_when_next_looking "at once"
---print(loop:run())   --> stopped at once true
---loop:stop_when_next_looking()
---```
---@param value? any The second result of `run`.
function loop:stop_when_next_looking(value) end

---Ends the loop's sleep, or the next one of a run that is under way.
---What `source:signal` does not do. A loop that does not run forgets it.
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

---The mode of the innermost run.
---Nil when the loop does not run.
---```lua
---loop:after(1, function() print(loop.mode) end)   --> default
---```
---@type string?
loop.mode = nil

---How many runs are nested in one another now.
---0 when the loop does not run.
---```lua
---loop:after(1, function() print(loop.depth) end)
---loop:run()   --> 1
---```
---@type integer
loop.depth = nil

---Who hears of errors in handlers; nil: they are written to standard error.
---It may return "stop" to end the innermost run; anything else goes on. An error never unwinds the
---loop, and none is lost: one that this function raises itself is written. "stop" or "continue" in
---its place: they are written, and the run stops or goes on. The function, or nil for none.
---Settable.
---```lua
---loop.on_error = function(e) print(e.message); return "continue" end
---loop:after(1, function() error("no luck", 0) end)
---loop:run()   --> no luck
---```
---@type moonloop.ErrorHandler?
loop.on_error = nil

---@class moonloop.PerformOptions
---@field modes? moonloop.Modes Default "default".
---@field wake? boolean False: a sleeping loop sleeps on; default true.
---@field as_source? boolean True: a run with 'until_handled' returns after it.

---Queues a function: the next pass in one of its modes calls it, once.
---Functions run in the order of queuing. One that is queued by another runs in a later step. With
---'wake' a sleeping loop wakes for it, as is the default.
---Raises an error that names the option that is wrong.
---```lua
---loop:perform({ modes = { "default", "tracking" } }, print, "second thing")
---print "first thing"   --> first thing
---loop:run()   --> second thing
---```
---@overload fun(self: moonloop.Loop, fn: (fun(...)), ...: any): moonloop.Request
---@param options? moonloop.PerformOptions May be left out.
---@param fn fun(...) The function.
---@param ... any Given to the function.
---@return moonloop.Request request What can be taken back.
function loop:perform(options, fn, ...) end

---@class moonloop.PerformAfterOptions
---@field after moonloop.Seconds From now, at least 0.
---@field modes? moonloop.Modes Default "default".

---Calls a function with arguments once, after a delay.
---Raises an error for a delay that is negative or no number.
---```lua
---loop:perform_after(1, print, "one", "two")   --> one two
---```
---@param delay moonloop.Seconds|moonloop.PerformAfterOptions From now; or a table of options, in which 'after' must be there.
---@param fn fun(...) The function.
---@param ... any Given to the function.
---@return moonloop.Request request What can be taken back.
function loop:perform_after(delay, fn, ...) end

---Adds an item to modes; it is served in passes that run in one of them.
---The loop holds the item then: dropping the variable does not stop it. Adding it twice to a mode
---has no effect. In "common" it is in every common mode, now and later.
---Raises an error when the item has ended.
---```lua
---local timer = loop:add(ml.timer { first = 1, function() end }, "tracking")
---print(timer:modes()[1])   --> tracking
---```
---@param item moonloop.Item|moonloop.ProgramItem A timer, source, fd, observer or port.
---@param modes? moonloop.Modes Default "default".
---@return moonloop.Item|moonloop.ProgramItem item The same item.
function loop:add(item, modes) end

---Takes an item out of modes; it stays valid, and may be added again.
---Taking it out of "common" takes it out of every common mode.
---```lua
---local timer = loop:after(1, print)
---print(#loop:remove(timer):modes())   --> 0
---```
---@param item moonloop.Item|moonloop.ProgramItem A timer, source, fd, observer or port.
---@param modes? moonloop.Modes Default "default".
---@return moonloop.Item|moonloop.ProgramItem item The same item.
function loop:remove(item, modes) end

---Whether an item is in a mode.
---```lua
---local timer <close> = loop:every(1, print)
---print(loop:contains(timer), loop:contains(timer, "common"))   --> true false
---```
---@param item moonloop.Item|moonloop.ProgramItem A timer, source, fd, observer or port.
---@param mode? string Default "default"; "common": whether it is a common item.
---@return boolean contained Whether it is in that mode.
function loop:contains(item, mode) end

---Every mode that was used so far, and what is in it.
---```lua
---local timer <close> = loop:every(1, print)
---print(loop:modes().default.timers)   --> 1
---```
---@return table<string, moonloop.ModeContents> modes By name: 'timers', 'sources', 'fds', 'ports', 'observers', 'blocks' (counts); 'common', 'empty' (booleans).
function loop:modes() end

---Makes a mode one of the common modes, for good.
---Everything that was added to "common" comes into it. The default mode is one from the start.
---Returns `nil, message, code` when a descriptor of "common" cannot be watched in it: the rest is
---in it all the same.
---```lua
---loop:add_common_mode "tracking"
---loop:timer { first = 1, modes = "common", function() print(loop.mode) end }
---loop:run "tracking"   --> tracking
---```
---@param mode string Its name; it need not be used yet.
---@return true? added True.
---@return string? message
---@return string? code
function loop:add_common_mode(mode) end

---When the earliest timer of a mode is due, on the clock of `ml.now()`.
---```lua
---local timer <close> = loop:every(2, print)
---print(("%.1f s"):format(loop:next_timer() - ml.now()))   --> 2.0 s
---```
---@param mode? string Default "default".
---@return moonloop.Seconds? date Nil when the mode has no timer.
function loop:next_timer(mode) end

---What is in a mode.
---@class moonloop.ModeContents
---@field common boolean Whether it is one of the common modes.
---@field empty boolean Whether a run of it is finished at once.
---@field timers integer How many timers are in it.
---@field sources integer How many custom sources.
---@field fds integer How many descriptors.
---@field ports integer How many ports.
---@field observers integer How many observers.
---@field blocks integer How many queued functions.

---What an error handler gets.
---@class moonloop.Error
---@field message string What was raised, as text.
---@field traceback string The message and the calls that led to it.
---@field handle string Whose handler it was, and where that was made.
---@field kind string "runtime", "memoryLimit", "timeLimit", ...
---@field code? string The `code` of an error table.
---@field mode? string The mode of the run, if there was one.
---@field value? any What was raised, if it was no string: the same value.

---Functions that wait to be performed: what `loop:perform` and `loop:perform_after` give.
---@class moonloop.Request
local request = {}

---Takes the request back if it was not performed yet.
---```lua
---local request = loop:perform(print, "never")
---print(request:cancel(), request:cancel())   --> true false
---```
---@return boolean cancelled Whether it was still waiting.
function request:cancel() end

---The same as `cancel`, without an answer: the verb that ends every handle.
---```lua
---local request = loop:perform_after(1, print, "never")
---request:invalidate()
---```
function request:invalidate() end

---Whether it still waits to be performed.
---```lua
---local request = loop:perform(function() end)
---print(request:is_pending())   --> true
---```
---@return boolean pending False once it runs, ran or was cancelled.
function request:is_pending() end

---The same as `is_pending`: what every handle answers.
---```lua
---local request = loop:perform(function() end)
---loop:run()
---print(request:is_valid())   --> false
---```
---@return boolean valid False once it runs, ran or was cancelled.
function request:is_valid() end
