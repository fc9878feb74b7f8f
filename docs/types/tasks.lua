---@meta _
-- Tasks

---@class moonloop
local ml = {}

---Suspends the handler or task that calls it; the loop goes on meanwhile.
---A timer whose handler sleeps does not fire meanwhile: those fires count as missed. Raises an
---error where Lua cannot wait; in a cancelled task it raises the reason.
---```lua
---loop:task(function()
---  local start = ml.now()
---  ml.sleep(0.5)
---  print(("%.1f s"):format(ml.now() - start))   --> 0.5 s
---end)
---```
---@async
---@param time moonloop.Seconds At least 0, which means the next pass.
function ml.sleep(time) end

---Calls a function, and cancels it if it has not returned in time.
---Returns `nil, message, "ETIMEDOUT"` when the time is up. Raises what the function raises.
---```lua
---loop:task(function()
---  print(ml.timeout(2, ml.sleep, 3600))
---    --> nil timed out: waited for a sleep of 3600.0 s ETIMEDOUT
---end)
---```
---@async
---@param time moonloop.Seconds Timeout, at least 0.
---@param fn fun(...): ... The function, which may wait.
---@param ... any Arguments for the function.
---@return any ... What the function returned.
---@return string? message
---@return string? code
function ml.timeout(time, fn, ...) end

---Turns a callback interface into a wait.
---The function starts the operation and passes `resume` to it as its callback; only the first call
---of `resume` counts. What the function returns is closed if the task is cancelled before that.
---Raises what the function raises, and what `ml.sleep` raises.
---```lua
---local function query(text, callback)   -- an interface without tasks
---  return loop:after(1, function() callback("row of " .. text) end)
---end
---loop:task(function()
---  print(ml.await(function(resume) return query("table", resume) end))   --> row of table
---end)
---```
---@async
---@param fn fun(resume: fun(...)): any? Starts the operation; may return a handle.
---@return any ... The arguments of `resume`.
function ml.await(fn) end

---@class moonloop.Loop
local loop = {}

---@class moonloop.TaskOptions
---@field name? string Name in reports.
---@field modes? moonloop.Modes Modes in which it is resumed after a wait; default: those of its maker.
---@field on_error? moonloop.ErrorHandler Called first for its failure.
---@field [1] (fun(...): ...)? The function, unless it is a separate argument.
---@field owner? "none" No task awaits it; its failure is reported at once.

---Runs a function as a task, which may wait.
---The function receives the arguments, or its scope if there are none.
---The function starts in the next pass of its modes. A failure that no task awaits is reported.
---Raises an error that names the wrong option.
---```lua
---loop:task({ name = "greet" }, function(name)
---  ml.sleep(1)
---  print("hello, " .. name)   --> hello, moon
---end, "moon")
---```
---@overload fun(self: moonloop.Loop, fn: (fun(...): ...), ...: any): moonloop.Task
---@param options? moonloop.TaskOptions Optional.
---@param fn fun(...): ... The body of the task.
---@param ... any Arguments for the function; without any it receives its scope.
---@return moonloop.Task task The task, which is also the scope of its children.
function loop:task(options, fn, ...) end

---A function that may wait, started by `loop:task` or `task:task`; also the scope of its children.
---@class moonloop.Task
local task = {}

---What the task is doing, or how it ended.
---One word.
---```lua
---local task = loop:task(function() error "broken" end)
---task.on_error = function(e) print(task.status) end   --> failed
---```
---@type moonloop.TaskStatus
task.status = nil

---The name given when it was made, or an empty string.
---As reports show it.
---```lua
---local task = loop:task({ name = "fetch" }, function() end)
---print(task.name)   --> fetch
---```
---@type string
task.name = nil

---Called first for its failure if no task awaits it, before `loop.on_error`.
---Nil for none. Settable.
---```lua
---local task = loop:task(function() error("no luck", 0) end)
---task.on_error = function(e) print(e.message) end   --> no luck
---```
---@type moonloop.ErrorHandler?
task.on_error = nil

---@class moonloop.ChildOptions
---@field name? string Name in reports.
---@field modes? moonloop.Modes Modes in which it is resumed after a wait; default: those of its maker.
---@field on_error? moonloop.ErrorHandler Called first for its failure.
---@field [1] (fun(...): ...)? The function, unless it is a separate argument.

---Starts a child: this task waits for it, fails with it, and cancels it when it is cancelled.
---The function receives the arguments. A task has ended when its function has returned and its
---children have ended. Raises an error when this task has ended.
---```lua
---local function fetch(name) ml.sleep(0.1); return name:upper() end
---loop:task(function(scope)
---  local a, b = scope:task(fetch, "a"), scope:task(fetch, "b")
---  print(a:await() .. b:await())   --> AB
---end)
---```
---@overload fun(self: moonloop.Task, fn: (fun(...): ...), ...: any): moonloop.Task
---@param options? moonloop.ChildOptions Optional.
---@param fn fun(...): ... The body of the child.
---@param ... any Arguments for the function.
---@return moonloop.Task task The child.
function task:task(options, fn, ...) end

---Waits until the task has ended, and returns what it returned.
---Raises the task's error, the same value; or the reason it was cancelled with. Raises an error
---where Lua cannot wait (in a comparator, `__tostring`, ...), and for options: `wait` works there,
---and has a timeout.
---```lua
---local task = loop:task(function() ml.sleep(1); return "done" end)
---loop:task(function() print(task:await()) end)   --> done
---```
---@async
---@return any ... What its function returned.
function task:await() end

---@class moonloop.WaitOptions
---@field timeout? moonloop.Seconds Default: no limit.
---@field mode? string Default: a private one, or "default" at top level.

---Runs the loop until the task has ended, for code that cannot suspend.
---At top level it runs the default mode; in a handler a private mode, which serves only what the
---task waits for. With 'mode' it serves everything in that mode. Returns `nil, message, code`:
---"ETIMEDOUT", or "ECANCELED" when the run was stopped. Raises the task's error; also one that says
---what the task waits for when nothing in the mode can ever end it.
---```lua
---local task = loop:task(function() ml.sleep(1); return "done" end)
---print(task:wait { timeout = 5 })   --> done
---```
---@param options? moonloop.WaitOptions The timeout.
---@return any ... What its function returned.
---@return string? message
---@return string? code
function task:wait(options) end

---Cancels the task and its children: each of their awaits, now and later, raises the reason.
---The task sees it at its next await and may clean up; its `<close>` variables are closed. Has no
---effect on a task that has ended or is already cancelled.
---```lua
---local task = loop:task(function() ml.sleep(3600) end)
---task:cancel "not needed"
---print(task.status)   --> cancelled
---```
---@param reason? any The error to raise; default "the task was cancelled".
function task:cancel(reason) end

---Cancels the task, as `cancel` without a reason does.
---```lua
---local task = loop:task(function() ml.sleep(3600) end)
---task:invalidate()
---print(task.status)   --> cancelled
---```
function task:invalidate() end

---Whether it has not ended yet; a cancelled task may still be cleaning up.
---```lua
---local task = loop:task(function() ml.sleep(1) end)
---print(task:is_valid())   --> true
---```
---@return boolean valid False once it has ended, with all its children.
function task:is_valid() end

---Whether it has ended, in whatever way.
---```lua
---local task = loop:task(function() ml.sleep(1) end)
---print(task:is_done())   --> false
---```
---@return boolean done True once it has ended, with all its children.
function task:is_done() end
