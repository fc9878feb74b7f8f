---@meta _
-- Tasks

---@class moonloop
local ml = {}

---Suspends the handler or task that calls it; the loop goes on, and resumes it later.
---A timer whose handler sleeps does not fire meanwhile: those fires are counted as missed.
---Raises an error where Lua cannot wait, which it names; and the reason in a task that was
---cancelled.
---```lua
---loop:task(function()
---  local start = ml.now()
---  ml.sleep(0.5)
---  print(("%.1f s"):format(ml.now() - start))   --> 0.5 s
---end)
---```
---@async
---@param time moonloop.Seconds At least 0: then the next pass.
function ml.sleep(time) end

---Calls a function, and cancels it if it has not returned in time.
---Returns `nil, "timed out", "ETIMEDOUT"` when the time is over.
---Raises what the function raises.
---```lua
---loop:task(function()
---  print(ml.timeout(2, ml.sleep, 3600))   --> nil timed out ETIMEDOUT
---end)
---```
---@async
---@param time moonloop.Seconds How long it may take, at least 0.
---@param fn fun(...): ... What is called; it may wait.
---@param ... any Given to the function.
---@return any ... What the function returned.
---@return string? message
---@return string? code
function ml.timeout(time, fn, ...) end

---Makes a wait of any interface that calls back.
---The function starts the operation and hands `resume` to it as its callback; only the first call
---of `resume` counts. What the function returns is closed when the task is cancelled before that.
---Raises what the function raises, and what `ml.sleep` raises.
---```lua
---local function query(text, callback)   -- an interface that knows nothing of tasks
---  return loop:after(1, function() callback("row of " .. text) end)
---end
---loop:task(function()
---  print(ml.await(function(resume) return query("table", resume) end))   --> row of table
---end)
---```
---@async
---@param fn fun(resume: fun(...)): any? Starts the operation; may return a handle.
---@return any ... What `resume` was called with.
function ml.await(fn) end

---@class moonloop.Loop
local loop = {}

---@class moonloop.TaskOptions
---@field name? string What reports call it.
---@field modes? moonloop.Modes Where it goes on after a wait; default: those of what made it.
---@field on_error? moonloop.ErrorHandler Hears of its failure first.
---@field [1] (fun(...): ...)? The function, if it does not follow the options.
---@field owner? "none" Nobody waits for it; its failure is reported at once.

---Runs a function as a task, which may wait; it gets its scope, then the arguments.
---The function begins in the next pass of its modes. A failure that nobody awaits is reported.
---Raises an error that names the option that is wrong.
---```lua
---loop:task({ name = "greet" }, function(scope, name)
---  ml.sleep(1)
---  print("hello, " .. name)   --> hello, moon
---end, "moon")
---```
---@overload fun(self: moonloop.Loop, fn: (fun(scope: moonloop.Task, ...): ...), ...: any): moonloop.Task
---@param options? moonloop.TaskOptions May be left out.
---@param fn fun(scope: moonloop.Task, ...): ... What the task does.
---@param ... any Given to the function, behind its scope.
---@return moonloop.Task task The task; also the scope of its children.
function loop:task(options, fn, ...) end

---Functions that may wait: what `loop:task` and `task:task` give, and the scope that their function
---gets.
---@class moonloop.Task
local task = {}

---What the task is doing or how it ended.
---One word.
---```lua
---local task = loop:task(function() error "broken" end)
---task.on_error = function(e) print(task.status) end   --> failed
---```
---@type moonloop.TaskStatus
task.status = nil

---The name that it was made with, or an empty string.
---As reports show it.
---```lua
---local task = loop:task({ name = "fetch" }, function() end)
---print(task.name)   --> fetch
---```
---@type string
task.name = nil

---Who hears of its failure if nobody awaits it, before `loop.on_error` does; nil: nobody.
---The function, or nil for none. Settable.
---```lua
---local task = loop:task(function() error("no luck", 0) end)
---task.on_error = function(e) print(e.message) end   --> no luck
---```
---@type moonloop.ErrorHandler?
task.on_error = nil

---@class moonloop.ChildOptions
---@field name? string What reports call it.
---@field modes? moonloop.Modes Where it goes on after a wait; default: those of what made it.
---@field on_error? moonloop.ErrorHandler Hears of its failure first.
---@field [1] (fun(...): ...)? The function, if it does not follow the options.

---Makes a child: this task waits for it, fails with it, and cancels it when it is cancelled.
---The function gets the arguments. A task has ended when its function has returned and its children
---have ended.
---Raises an error when this task has ended.
---```lua
---local function fetch(name) ml.sleep(0.1); return name:upper() end
---loop:task(function(scope)
---  local a, b = scope:task(fetch, "a"), scope:task(fetch, "b")
---  print(a:await() .. b:await())   --> AB
---end)
---```
---@overload fun(self: moonloop.Task, fn: (fun(...): ...), ...: any): moonloop.Task
---@param options? moonloop.ChildOptions May be left out.
---@param fn fun(...): ... What the child does.
---@param ... any Given to the function.
---@return moonloop.Task task The child.
function task:task(options, fn, ...) end

---Suspends what runs until the task has ended, and gives what it returned.
---Raises the task's error, the same value; or the reason it was cancelled with.
---Raises an error where Lua cannot wait (in a comparator, `__tostring`, ...); use `wait` there.
---```lua
---local task = loop:task(function() ml.sleep(1); return "done" end)
---loop:task(function() print(task:await()) end)   --> done
---```
---@async
---@return any ... What its function returned.
function task:await() end

---@class moonloop.WaitOptions
---@field timeout? moonloop.Seconds Default: no limit.
---@field mode? string Default: one of its own, or "default" at top level.

---Runs the loop until the task has ended, for code that cannot suspend.
---At top level it runs the default mode; in a handler a private mode, in which only what the task
---waits for is served. With 'mode' it serves everybody in that mode.
---Returns `nil, message, code`: "ETIMEDOUT", or "ECANCELED" when the run was stopped.
---Raises the task's error; also one that names what the task waits for when nothing in the mode can
---ever end it.
---```lua
---local task = loop:task(function() ml.sleep(1); return "done" end)
---print(task:wait { timeout = 5 })   --> done
---```
---@param options? moonloop.WaitOptions How to wait.
---@return any ... What its function returned.
---@return string? message
---@return string? code
function task:wait(options) end

---Cancels the task and its children: each of their awaits, now and later, raises the reason.
---It is told at its next await, and may clean up; its `<close>` variables are closed. Has no effect
---on a task that has ended or is cancelled already.
---```lua
---local task = loop:task(function() ml.sleep(3600) end)
---task:cancel "not needed"
---print(task.status)   --> cancelled
---```
---@param reason? any What is raised; default "the task was cancelled".
function task:cancel(reason) end

---Cancels the task, as `cancel` without a reason: one verb ends every handle.
---```lua
---local task = loop:task(function() ml.sleep(3600) end)
---task:invalidate()
---print(task.status)   --> cancelled
---```
function task:invalidate() end

---Whether it has not ended yet; a task that was cancelled may still clean up.
---```lua
---local task = loop:task(function() ml.sleep(1) end)
---print(task:is_valid())   --> true
---```
---@return boolean valid False once nothing of it runs or waits.
function task:is_valid() end

---Whether it has ended, in whatever way.
---```lua
---local task = loop:task(function() ml.sleep(1) end)
---print(task:is_done())   --> false
---```
---@return boolean done True once nothing of it runs or waits.
function task:is_done() end
