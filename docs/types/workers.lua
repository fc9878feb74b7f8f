---@meta _
-- Workers

---@class moonloop
local ml = {}

---@class moonloop.WorkerOptions
---@field [1] (string)? The script's file: beside this script, as for `require`, else in the working directory.
---@field source? string The text of the script, instead of a file.
---@field args? any What the script receives as `...`, copied as by `port:send`.
---@field memory? integer|string Memory limit for its Lua, e.g. "8M"; default: the same as here.
---@field callout? moonloop.Seconds Time limit for one call of a handler; default: the same as here.
---@field capacity? integer Maximum number of messages waiting in each direction; default 65536.
---@field name? string Name in reports and traces.
---@field keep_alive? boolean Whether this item alone keeps a run alive; default true.
---@field on_error? moonloop.ErrorHandler Called first for errors in its handlers.
---@field modes? moonloop.Modes Modes in which it is served; default "default".

---Starts a thread with a Lua state and a loop of its own, and runs a script there.
---The script runs as a task, then its loop runs until nothing is left in it. It talks to its owner
---through `ml.parent`, and ends no later than its owner. Under a clock that jumps, owner and worker
---share one time. Returns `nil, message, code`: when the file cannot be read, "ENOEXEC" when it
---does not compile, "EAGAIN" when there are too many workers or threads. Raises an error that names
---the wrong option.
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
---@param options moonloop.WorkerOptions The script, and its arguments and limits.
---@return moonloop.Worker? worker The worker, already running.
---@return string? message
---@return string? code
function ml.worker(options) end

---Several workers that run the same script, for work that takes more than one core.
---Starts as many workers as you say, each with a copy of the options; returns them as a list.
---`args` may be a function: called with the number of each worker, it returns what that one
---receives. With `name`, each is named by it and its number. If one cannot be started, the others
---are stopped, and it returns what `ml.worker` returns.
---```lua
---loop:task(function()
---  local workers <close> = assert(ml.workers(2, {
---    args = function(number) return number * 10 end,
---    source = "local start = ... return start + 1",
---  }))
---  print(table.unpack(workers:await()))   --> 11 21
---end)
---```
---@param count integer How many.
---@param options moonloop.WorkerOptions As for `ml.worker`.
---@return moonloop.Workers? workers The list, all of them running.
---@return string? message
---@return string? code
function ml.workers(count, options) end

---In a worker: its end of the port to its owner, whose end is `worker.port`; nil elsewhere.
---Messages wait in it until the script listens with `on` or `receive`; while it does, the worker's
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

---A thread with a Lua state and a loop of its own, made by `ml.worker`.
---See [workers.md](../workers.md).
---@class moonloop.Worker: moonloop.Item
local worker = {}

---The owner's end of the worker's port; `ml.parent` is the other end.
---It is in the modes of the worker, and does not keep a run alive by itself. Messages sent before
---the worker ended are still delivered; then it ends. Always the same handle.
---```lua
---local worker = assert(ml.worker { source = [[
---  local ml = require("moonloop")
---  ml.parent:send "hello"
---]] })
---worker.port:on("message", print)   --> hello reply (not awaited)
---```
---@type moonloop.Port
worker.port = nil

---What the worker is doing, or how it ended.
---As far as this loop knows.
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

---Whether the worker's loop sleeps now.
---A look from outside: it may have changed by the time you read it. False when
---the worker has ended.
---```lua
---local worker = assert(ml.worker { source = "require('moonloop').parent:on('message', print)" })
---loop:every(0.01, function(timer)
---  if not worker.is_waiting then return end
---  print "it waits for a message"   --> it waits for a message
---  timer:invalidate()
---  worker:stop()
---end)
---```
---@type boolean
worker.is_waiting = nil

---@class moonloop.AwaitOptions
---@field timeout? moonloop.Seconds Default: none.

---Waits until the worker has ended, and returns what its script returned.
---Raises the error that ended the script, with its traceback. Returns `nil, message, code`:
---"ECANCELED" when it was stopped, "ETIMEDOUT".
---```lua
---loop:task(function()
---  local worker = assert(ml.worker { source = "local n = ... return n * 2", args = 21 })
---  print(worker:await())   --> 42
---end)
---```
---@async
---@param options? moonloop.AwaitOptions The timeout.
---@return any ... Copies of what the script returned.
---@return string? message
---@return string? code
function worker:await(options) end

---Asks the worker to end, without waiting.
---Its runs end as if they were stopped; a call that lasts longer than 0.3 s is interrupted, which
---no `pcall` catches. Its tasks close their `<close>` variables.
---```lua
---loop:task(function()
---  local worker = assert(ml.worker { source = "while true do end" })
---  worker:stop()
---  print(select(3, worker:await()))   --> ECANCELED
---end)
---```
function worker:stop() end

---The workers that `ml.workers` has started: a list of `moonloop.Worker`.
---At the end of the block of a `<close>` variable they are stopped, and waited for.
---@class moonloop.Workers
---@field [integer] moonloop.Worker Each of them, by its number.
local workers = {}

---Waits until all have ended, and returns a list of what their scripts returned.
---Of each the first value, or false. The first error of one stops the others, and is raised.
---```lua
---loop:task(function()
---  local workers = assert(ml.workers(3, { source = "return 7" }))
---  print(#workers:await())   --> 3
---end)
---```
---@async
---@return any[] results
function workers:await() end

---Asks all of them to end, without waiting.
---```lua
---loop:task(function()
---  local workers = assert(ml.workers(2, { source = "require('moonloop').sleep(1000)" }))
---  workers:stop()
---  print(table.unpack(workers:await()))   --> false false
---end)
---```
function workers:stop() end

---Makes a frozen table: a copy that never changes, which workers, guests and ports share.
---It has booleans, numbers, strings and tables of them, at most 100 deep and 64 MiB; metatables are
---left out. It is read like a table, by index, `#`, `pairs` and `ipairs`, in their order: first the
---items, then the other fields. But its `type` is "userdata", so `next` and `rawget` do not take
---it, and writing to it raises an error. In a message it is passed as it is, whatever its size, and
---stays one table in memory; it counts for the state that froze it, until nothing refers to it any
---more. Other processes get a plain table. Raises an error with the path of anything else, such as
---a function, or a table that contains itself.
---```lua
---local rates = ml.freeze { eur = 1.1, list = { 3, 4 } }
---print(rates.eur + #rates.list)   --> 3.1
---print((pcall(function() rates.eur = 2 end)))   --> false
---```
---@param value table The table; one that is frozen is returned as it is.
---@return table frozen The frozen table, a userdata.
function ml.freeze(value) end
