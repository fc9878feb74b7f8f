---@meta _
-- Workers

---@class moonloop
local ml = {}

---@class moonloop.WorkerOptions
---@field [1] (string)? The script's file: beside this script, as for `require`, else in the working directory.
---@field source? string The text of the script, instead of a file.
---@field args? any What the script gets as `...`: a copy, as by `port:send`.
---@field memory? integer|string The most that its Lua may hold, such as "8M"; default: as here.
---@field callout? moonloop.Seconds The most that one call of a handler may run; default: as here.
---@field capacity? integer How many messages may wait in each direction; default 65536.
---@field name? string What reports and traces call it.
---@field keep_alive? boolean False: a run does not go on for it; default true.
---@field on_error? moonloop.ErrorHandler Hears of errors in its handlers first.
---@field modes? moonloop.Modes Where it is served; default "default".

---Starts a thread with a Lua state and a loop of its own, which runs a script.
---The script runs as a task, then its loop runs until nothing is left in it. It talks to its owner
---by `ml.parent`, and ends with its owner at the latest. Under a clock that jumps, owner and worker
---share one time.
---Returns `nil, message, code`: when the file cannot be read, "ENOEXEC" when it does not compile,
---"EAGAIN" when there are too many workers or threads.
---Raises an error that names the option that is wrong.
---```lua
---local worker = assert(ml.worker { name = "doubler", source = [[
---  local ml = require("moonloop")
---  ml.parent:on("message", function(number, reply) reply(number * 2) end)
---]] })
---loop:task(function()
---  print(worker.port:request(21))   --> 42
---  worker:stop()
---end)
---```
---@param options moonloop.WorkerOptions The script, and what it gets.
---@return moonloop.Worker? worker The worker, running.
---@return string? message
---@return string? code
function ml.worker(options) end

---In a worker, its end of the port to its owner, whose end is `worker.port`; else nil.
---Messages wait in it until the script listens, by `on` or `receive`; while it does, the worker's
---loop goes on. Always the same handle.
---```lua
---print(ml.parent)   --> nil
---local worker = assert(ml.worker { source = [[
---  local ml = require("moonloop")
---  local job, reply = ml.parent:receive()
---  reply(job:upper())
---]] })
---loop:task(function() print(worker.port:request "ping") end)   --> PING
---```
---@type moonloop.Port?
ml.parent = nil

---Threads with a state and a loop of their own, made by `ml.worker`; see [the page](../workers.md).
---@class moonloop.Worker: moonloop.Item
local worker = {}

---The owner's end of the worker's port; `ml.parent` is the other end.
---It is in the modes of the worker, and does not hold a run by itself. Messages that were sent
---before the worker ended are still delivered; then it ends. Always the same handle.
---```lua
---local worker = assert(ml.worker { source = [[
---  local ml = require("moonloop")
---  ml.parent:send "hello"
---]] })
---worker.port:on("message", print)   --> hello reply (nobody waits)
---```
---@type moonloop.Port
worker.port = nil

---What has become of the worker.
---As far as this loop has heard of it.
---```lua
---loop:task(function()
---  local worker = assert(ml.worker { source = "" })
---  print(worker.status)   --> running
---  worker:await()
---  print(worker.status)   --> done
---end)
---```
---@type "running"|"stopping"|"done"|"failed"|"stopped"
worker.status = nil

---@class moonloop.AwaitOptions
---@field timeout? moonloop.Seconds How long; default: for ever.

---Suspends the caller until the worker has ended; gives what its script returned.
---Raises the error that ended the script, with its traceback.
---Returns `nil, message, code`: "ECANCELED" when it was stopped, "ETIMEDOUT".
---```lua
---loop:task(function()
---  local worker = assert(ml.worker { source = "local n = ... return n * 2", args = 21 })
---  print(worker:await())   --> 42
---end)
---```
---@async
---@param options? moonloop.AwaitOptions How to wait.
---@return any ... Copies of what the script returned.
---@return string? message
---@return string? code
function worker:await(options) end

---Asks the worker to end, and does not wait for that.
---Its runs end as if they had been stopped; a call that goes on after 0.3 s is interrupted, which
---no `pcall` catches. Its tasks close what they hold.
---```lua
---loop:task(function()
---  local worker = assert(ml.worker { source = "while true do end" })
---  worker:stop()
---  print(select(3, worker:await()))   --> ECANCELED
---end)
---```
function worker:stop() end
