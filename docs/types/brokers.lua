---@meta _
-- Ports over a broker

---Options of `ml.port` with 'over'. See [brokers.md](../brokers.md).
---@class moonloop.BrokerPortOptions
---@field [1] (fun(port: moonloop.BrokerPort, message: any, reply: moonloop.Reply))? The handler; when it returns, the message is acknowledged.
---@field handler? fun(port: moonloop.BrokerPort, message: any, reply: moonloop.Reply) The same by name.
---@field name string Letters, digits, `.`, `-` and `_`, at most 64.
---@field over string The broker: `redis://user:password@host:port/database`, or `redis+unix://%2Fpath/database`.
---@field deliver? "one"|"all" "one": to one receiver, kept until acknowledged; "all": to all that are listening. Default "one".
---@field capacity? integer Maximum number of messages in the queue; with "all", of those that wait for the handler. Default 65536.
---@field at_once? integer How many messages may be in progress at once, up to 1024; default 1.
---@field lease? moonloop.Seconds How long a receiver keeps its messages without a sign of life; default 30.
---@field attempts? integer How often a message is given out before it is put aside; default 5.
---@field timeout? moonloop.Seconds Timeout of each call; default 10.
---@field modes? moonloop.Modes Modes in which it is served; default: those of its maker.
---@field keep_alive? boolean Whether this port alone keeps a run alive while it receives; default true.
---@field on_error? moonloop.ErrorHandler Called first for errors in its handler.

---A port that programs on other machines share: made by `ml.port` with 'over'.
---It is not an item: its modes are set when it is made.
---@class moonloop.BrokerPort
local broker_port = {}

---The name given when it was made.
---All ports of this name, over the same broker, share messages.
---```lua
---local jobs <close> = ml.port { name = "jobs", over = "redis://127.0.0.1:1" }
---print(jobs.name)   --> jobs
---```
---@type string
broker_port.name = nil

---Maximum number of messages in the queue.
---As set for this port; others may have set another.
---```lua
---local jobs <close> = ml.port { name = "jobs", over = "redis://127.0.0.1:1", capacity = 100 }
---print(jobs.capacity)   --> 100
---```
---@type integer
broker_port.capacity = nil

---Whether a message goes to one receiver or to all.
---"one" or "all".
---```lua
---local jobs <close> = ml.port { name = "jobs", over = "redis://127.0.0.1:1" }
---print(jobs.deliver)   --> one
---```
---@type string
broker_port.deliver = nil

---How many messages to all were dropped.
---They came faster than the handler took them, and 'capacity' was reached.
---```lua
---local news <close> = ml.port { name = "news", over = "redis://127.0.0.1:1", deliver = "all" }
---print(news.dropped)   --> 0
---```
---@type integer
broker_port.dropped = nil

---Called first for errors in its handler, before `loop.on_error`.
---Nil for none. Settable.
---```lua
---local jobs <close> = ml.port { name = "jobs", over = "redis://127.0.0.1:1" }
---jobs.on_error = function(e) print(e.message) end
---```
---@type moonloop.ErrorHandler?
broker_port.on_error = nil

---@class moonloop.BrokerDeadlineOptions
---@field timeout? moonloop.Seconds Default: that of the port.

---Sends a message, and waits until the broker has it.
---It is in the queue once, however often the connection breaks meanwhile. Waits while the queue is
---full. Returns `nil, message, code`: "ETIMEDOUT" (it may have been sent anyway, if it was on its
---way), "EMSGSIZE" beyond 1 MiB, "EACCES", "EINVAL" when the broker's key is something else,
---"ENOSPC", "EPIPE" when the port was closed. Raises an error for a value that has no JSON form.
---```lua
---loop:task(function()
---  local jobs <close> = ml.port { name = "jobs", over = "redis://127.0.0.1:1" }
---  print(select(3, jobs:send({ number = 7 }, { timeout = 2 })))   --> ETIMEDOUT
---end)
---```
---@async
---@param message any Anything that has a JSON form, see `ml.json.encode`; a string may hold any bytes.
---@param options? moonloop.BrokerDeadlineOptions The timeout.
---@return true? sent True once the broker has it.
---@return string? message
---@return string? code
function broker_port:send(message, options) end

---Sends a message and waits for the reply of the receiver that got it.
---A request that is older than its timeout is not given to a handler. Fails as `send` does, and
---with "EPIPE" when the handler has returned without a reply. Raises an error on a port that
---delivers to all.
---```lua
---loop:task(function()
---  local jobs <close> = ml.port { name = "jobs", over = "redis://127.0.0.1:1" }
---  print(select(3, jobs:request({ op = "status" }, { timeout = 2 })))   --> ETIMEDOUT
---end)
---```
---@async
---@param message any As for `send`.
---@param options? moonloop.BrokerDeadlineOptions The timeout, of the sending and the reply together.
---@return any reply A copy of the reply.
---@return string? message
---@return string? code
function broker_port:request(message, options) end

---Sets the handler; it receives the message and its reply function, but no handle.
---A message is acknowledged when its handler calls `reply(value)`, or returns; when it fails, the
---message is given out again after its lease. With nil no more messages are taken. Raises an error
---for another event, when the port was closed, and when a task receives from it.
---```lua
---local jobs = ml.port { name = "jobs", over = "redis://127.0.0.1:1" }
---jobs:on("message", function(message, reply) reply(message.number * 2) end)
---loop:after(1, function() jobs:invalidate() end)
---```
---@param event "message" "message" is the only choice.
---@param handler fun(message: any, reply: moonloop.Reply)? The handler, or nil.
---@return moonloop.BrokerPort port The handle itself.
function broker_port:on(event, handler) end

---Receives the next message of a port without a handler, and waits until there is one.
---It is in progress until `reply()` is called. Returns `nil, message, code`: "ETIMEDOUT", "EPIPE"
---when the port was closed. Raises an error when the port has a handler.
---```lua
---loop:task(function()
---  local jobs <close> = ml.port { name = "jobs", over = "redis://127.0.0.1:1" }
---  print(select(3, jobs:receive { timeout = 2 }))   --> ETIMEDOUT
---end)
---```
---@async
---@param options? moonloop.TimeoutOptions The timeout.
---@return any message A copy of the message.
---@return moonloop.Reply reply Acknowledges it, and answers it if it is a request.
function broker_port:receive(options) end

---Asks how many messages are not yet acknowledged, including those in progress.
---Fails as `send` does.
---```lua
---loop:task(function()
---  local jobs <close> = ml.port { name = "jobs", over = "redis://127.0.0.1:1" }
---  print(select(3, jobs:count { timeout = 2 }))   --> ETIMEDOUT
---end)
---```
---@async
---@param options? moonloop.BrokerDeadlineOptions The timeout.
---@return integer? count How many.
---@return string? message
---@return string? code
function broker_port:count(options) end

---Closes the port: waiting calls return "ECANCELED".
---Messages in progress are given to other receivers after their lease; a `<close>` variable does
---the same at the end of its block. To finish them first, take no more: `port:on("message", nil)`.
---```lua
---local jobs = ml.port { name = "jobs", over = "redis://127.0.0.1:1" }
---jobs:invalidate()
---print(jobs:is_valid())   --> false
---```
function broker_port:invalidate() end

---Whether the port is still open.
---It stays open while its broker is away.
---```lua
---local jobs <close> = ml.port { name = "jobs", over = "redis://127.0.0.1:1" }
---print(jobs:is_valid())   --> true
---```
---@return boolean valid False once it was closed.
function broker_port:is_valid() end
