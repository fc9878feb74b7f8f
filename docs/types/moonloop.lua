---@meta moonloop
-- The module

---A name of a mode, or a list of names; "common" stands for all common modes.
---@alias moonloop.Modes string|string[]

---A stage of a run.
---@alias moonloop.Activity "entry"|"before_timers"|"before_sources"|"before_waiting"|"after_waiting"|"exit"

---Why a run returned.
---@alias moonloop.RunResult "finished"|"stopped"|"timed_out"|"handled_source"

---What a task is doing, or how it ended.
---@alias moonloop.TaskStatus "running"|"suspended"|"done"|"failed"|"cancelled"

---What a descriptor can be watched for.
---@alias moonloop.Events "read"|"write"|("read"|"write")[]

---Hears of errors; what it returns says how to go on.
---@alias moonloop.ErrorHandler fun(error: moonloop.Error): "continue"|"stop"|nil

---A time or a duration in seconds, kept as whole nanoseconds.
---@alias moonloop.Seconds number

---A number of bytes.
---@alias moonloop.Bytes integer

---What `require "moonloop"` gives. Its functions that make an item do not add it to the loop; the
---loop's own methods of the same names do.
---@class moonloop
local ml = {}

---The loop of this thread, always the same handle.
---```lua
---print(ml.current() == loop)   --> true
---```
---@return moonloop.Loop loop It is found, never made.
function ml.current() end

---The time on the loop's clock, which only ever goes forward.
---Its zero means nothing; differences do. Dates of people are `os.time()` and `loop:at`.
---```lua
---local start = ml.now()
---loop:after(3, function() print(("%.1f s"):format(ml.now() - start)) end)   --> 3.0 s
---```
---@return moonloop.Seconds time With nanoseconds behind the point.
function ml.now() end

---The wall clock, as the loop's clock sees it: for dates, and for `loop:at`.
---On a virtual clock it stands and jumps with it; `os.time` does not.
---```lua
---loop:at(ml.wall_time() + 1, function() print "a second later" end)   --> a second later
---```
---@return moonloop.Seconds time Seconds since 1970.
function ml.wall_time() end

---Makes all that a configuration tells of.
---Modes, limits, timers, sources, observers, signals. All of it is checked first: an error lists
---every mistake with its line, and then nothing was made. See [Configuration](../configuration.md).
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
---@param what string|table The path of a file that returns it, or the table.
---@return table running Its handles as `timers.NAME`, `sources.NAME`, …; `running:run()` runs its phases, `running:run { mode = …, timeout = … }` one mode, or all of it for so long; `running:close()` ends what it made.
function ml.configure(what) end

---@class moonloop.LimitOptions
---@field memory? moonloop.Bytes The most that Lua may hold; at least 1 MB.
---@field callout? moonloop.Seconds The most that a call-out may run, waits not counted; at least 0.01.
---@field instructions? integer The most that a call-out may take, from 1000; counting halves the speed.
---@field handles? integer The most timers (sleeps too), and the most other items, at a time.
---@field nesting? integer How deep calls and runs may be nested, up to 60.

---Sets what the scripts of this state may use; what is not named stays as it is.
---A limit stops a call-out; no `pcall` catches it. It holds from the next call-out on.
---```lua
---ml.limit { handles = 1 }
---local timer = loop:after(1, function() end)
---print((pcall(loop.after, loop, 1, print)))   --> false
---ml.limit { handles = 1000 }
---```
---@param options moonloop.LimitOptions The limits.
function ml.limit(options) end

---@class moonloop.BreakOptions
---@field wait? boolean Whether to wait for a console if there is none.

---Stops the program here until the console says `:continue`.
---A nested run in a mode of its own: only the console is served, and the loop's clock stands, so
---that no timer is late or lost. Locals and upvalues can be looked at and set. Without a console
---the program goes on, which is told once on standard error. See [The console](../console.md).
---Raises an error where runs cannot be nested any deeper.
---```lua
---print(ml.break_here())   --> false
---```
---@param options? moonloop.BreakOptions How to stop.
---@return boolean stopped false: there was no console.
function ml.break_here(options) end

return ml
