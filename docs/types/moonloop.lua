---@meta moonloop
-- The module

---The name of a mode, or a list of names; "common" stands for all common modes.
---@alias moonloop.Modes string|string[]

---A stage of a run, as observers see it.
---@alias moonloop.Activity "entry"|"before_timers"|"before_sources"|"before_waiting"|"after_waiting"|"exit"

---Why a run returned.
---@alias moonloop.RunResult "finished"|"stopped"|"timed_out"|"handled_source"

---What a task is doing, or how it ended.
---@alias moonloop.TaskStatus "running"|"suspended"|"done"|"failed"|"cancelled"

---What to watch a descriptor for.
---@alias moonloop.Events "read"|"write"|("read"|"write")[]

---Called with each error; its result says how to go on.
---@alias moonloop.ErrorHandler fun(error: moonloop.Error): "continue"|"stop"|nil

---A time or duration in seconds, kept in whole nanoseconds.
---@alias moonloop.Seconds number

---A number of bytes.
---@alias moonloop.Bytes integer

---What `require "moonloop"` returns.
---Its functions that make an item do not add it to the loop; the loop's methods of the same names
---do.
---@class moonloop
local ml = {}

---Returns the loop of this thread, always the same handle.
---```lua
---print(ml.current() == loop)   --> true
---```
---@return moonloop.Loop loop The loop.
function ml.current() end

---The current time on the loop's clock, which never goes backwards.
---Only differences have a meaning. The clock is read at each call; `loop:now()` tells the time of
---the pass. For calendar dates use `os.time()`, `ml.wall_time()` and
---`loop:at`.
---```lua
---local start = ml.now()
---loop:after(3, function() print(("%.1f s"):format(ml.now() - start)) end)   --> 3.0 s
---```
---@return moonloop.Seconds time With nanosecond precision.
function ml.now() end

---The time of the wall clock as the loop's clock sees it, for dates and `loop:at`.
---A virtual clock stops and jumps this time as well, and that of `os.time` and `os.date` with it.
---```lua
---loop:at(ml.wall_time() + 1, function() print "a second later" end)   --> a second later
---```
---@return moonloop.Seconds time Seconds since 1970.
function ml.wall_time() end

---Makes everything that a configuration describes.
---Modes, limits, timers, sources, observers, signals. Everything is checked first: the error lists
---all mistakes, each with its line, and nothing is made. See [Configuration](../configuration.md).
---Raises an error that lists all mistakes, or says what cannot be opened.
---```lua
---local running = ml.configure {
---  timers = { beat = { every = 1, handler = function(timer)
---    print "beat"   --> beat
---    timer:invalidate()
---  end } },
---}
---running:run()
---```
---@param what string|table The path of a file that returns the configuration, or the table itself.
---@return table running Its handles are in `timers.NAME`, `sources.NAME`, …; `running:run()` runs its phases, `running:run { mode = …, timeout = … }` runs one mode or limits the whole run; `running:close()` ends what it made.
function ml.configure(what) end

---@class moonloop.LimitOptions
---@field memory? moonloop.Bytes Memory limit for Lua, at least 1 MiB.
---@field callout? moonloop.Seconds Time limit for one call of a handler, waits not counted; at least 0.01.
---@field instructions? integer Instruction limit for one call of a handler, at least 1000. Counting halves the speed.
---@field handles? integer Limit for each of these: timers (including sleeps), other items, tasks, performs, open files (of `ml.fs`, `ml.log` and luv), waiting notifications, (together) channels, semaphores and ports over a broker, and (together) handles of luv and sockets of LuaSocket.
---@field nesting? integer Limit for nested calls and runs, at most 60.

---Sets limits for the scripts of this state; limits that are not named stay as they are.
---A handler that exceeds a limit is stopped, and no `pcall` catches that. Takes effect with the
---next call of a handler.
---```lua
---ml.limit { handles = 1 }
---local timer = loop:after(1, function() end)
---print((pcall(loop.after, loop, 1, print)))   --> false
---ml.limit { handles = 1000 }
---```
---@param options moonloop.LimitOptions The limits to change.
function ml.limit(options) end

---@class moonloop.BreakOptions
---@field wait? boolean Wait for a console if none is attached.

---Stops the program here until the console continues it (`:continue`).
---This is a nested run in a mode of its own: only the console is served, and the loop's clock
---stands still, so no timer is late or lost. The console can read and set locals and upvalues.
---Without a console the program goes on, and a note is written to standard error once. See [The
---console](../console.md). Raises an error where runs cannot be nested any deeper.
---```lua
---print(ml.break_here())   --> false
---```
---@param options? moonloop.BreakOptions How to stop.
---@return boolean stopped False if there was no console.
function ml.break_here(options) end

return ml
