---@meta _
-- Ports

---@class moonloop
local ml = {}

---@class moonloop.Loop
local loop = {}

---@class moonloop.PortOptions
---@field [1] (fun(port: moonloop.Port, message: any, reply: moonloop.Reply))? The handler; `reply` answers a request.
---@field capacity? integer How many messages it holds, up to 16777216; default 65536.
---@field name? string What reports and traces call it.
---@field keep_alive? boolean False: a run does not go on for it; default true.
---@field on_error? moonloop.ErrorHandler Hears of errors in its handlers first.

---@class moonloop.LoopPortOptions: moonloop.PortOptions
---@field modes? moonloop.Modes Where it is served; default "default".

---Makes a port, a queue of messages inside this process, and adds it.
---Raises an error that names the option that is wrong.
---```lua
---local port = loop:port { name = "jobs", function(port, message, reply)
---  reply { ok = true, id = message.id }
---end }
---print(port:request({ id = 7 }).id)   --> 7
---port:invalidate()
---```
---@param options moonloop.LoopPortOptions The handler as first element; without one messages wait.
---@return moonloop.Port port The port.
function loop:port(options) end

---Makes a port of this process, without adding it to the loop.
---It is in no mode until `loop:add` puts it there; `loop:port` does both.
---- `options` (PortOptions): The handler as first element; without one messages wait. Options as
---for `loop:port`, but for 'modes'.
---Returns `port` (Port): the port.
---Raises an error that names the option that is wrong.
---```lua
---local port = ml.port { name = "jobs", function(port, job)
---  print(job)   --> build
---  port:invalidate()
---end }
---loop:add(port, "common")
---port:send "build"
---```
---@class moonloop.PortModule
---@overload fun(options: moonloop.PortOptions): moonloop.Port
ml.port = {}

---@class moonloop.PortListenOptions
---@field [1] (fun(port: moonloop.Port, message: any, reply: moonloop.Reply, from: moonloop.RemotePort))? The handler; as that of `loop:port`.
---@field capacity? integer How many messages wait in each direction; default 65536.
---@field keep_alive? boolean False: a run does not go on for it; default true.
---@field on_error? moonloop.ErrorHandler Hears of errors in its handlers first.
---@field modes? moonloop.Modes Where it is served; default "default".

---Takes a name for a port, which other processes of this user find by it.
---The handler's last argument is the way to the process that has sent the message; its `name` says
---which. The port is in its modes from the begin. The name is free again when the port ends, and
---when the process does, however that comes.
---Returns `nil, message, code`: "EADDRINUSE" when the name is taken (the message says by which
---process), "EACCES" when the folder of the names is not this user's alone.
---Raises an error for what is no name, and that names the option that is wrong.
---```lua
---local control = assert(ml.port.listen "org.example.listen")
---control:on("message", function(message, reply, from)
---  reply(message:upper())
---  control:invalidate()
---end)
---loop:task(function()
---  local port <close> = assert(ml.port.connect "org.example.listen")
---  print(port:request "ping")   --> PING
---end)
---```
---@param name string Letters, digits, `.`, `-` and `_`, at most 64; such as "org.example.app".
---@param options? moonloop.PortListenOptions The handler as first element; without one messages wait.
---@return moonloop.Port? port The port.
---@return string? message
---@return string? code
function ml.port.listen(name, options) end

---@class moonloop.PortConnectOptions
---@field [1] (fun(port: moonloop.Port, message: any, reply: moonloop.Reply))? The handler; as that of `loop:port`.
---@field capacity? integer How many messages wait in each direction; default 65536.
---@field keep_alive? boolean False: a run does not go on for it; default true.
---@field on_error? moonloop.ErrorHandler Hears of errors in its handlers first.
---@field modes? moonloop.Modes Where it is served; default "default".

---Connects to the port with a name, of this process or another one of this user.
---What is sent goes to the port that listens; what comes is what that sends back by its handler's
---last argument. It holds a run only while it has a handler or a task receives from it, and ends
---with the other process: then `receive` gives "EPIPE".
---Returns `nil, message, code`: "ECONNREFUSED" when nobody listens, "EACCES" when it is another
---user's.
---Raises an error for what is no name, and that names the option that is wrong.
---```lua
---print(ml.port.connect "org.example.nobody")
-----> nil port 'org.example.nobody': nobody listens on it ECONNREFUSED
---```
---@param name string Letters, digits, `.`, `-` and `_`, at most 64; such as "org.example.app".
---@param options? moonloop.PortConnectOptions The handler as first element; without one messages wait.
---@return moonloop.Port? port This side of the connection.
---@return string? message
---@return string? code
function ml.port.connect(name, options) end

---Made by `loop:port`, `ml.port` and its functions, and the two ends of a worker's; queues of
---messages.
---@class moonloop.Port: moonloop.Item
local port = {}

---How many messages are in the port.
---Sent and not yet handed out.
---```lua
---local port <close> = loop:port { print }
---port:send(1)
---print(port.waiting)   --> 1
---```
---@type integer
port.waiting = nil

---How many messages the port holds at most.
---As it was made; default 65536.
---```lua
---local port <close> = loop:port { capacity = 1, print }
---port:send(1)
---print(select(3, port:send(2)))   --> EAGAIN
---```
---@type integer
port.capacity = nil

---@class moonloop.SendOptions
---@field timeout? moonloop.Seconds How long to wait for room in a full port; default 0: not at all.

---Puts a message into the port; its handler gets a copy in a later pass.
---Tables are copied whole, cycles and shared tables too; metatables are not. What cannot be copied
---is an error that names the path to it, such as `message.items[3]`.
---Returns `nil, message, code`: "EAGAIN" when the port is full, "ETIMEDOUT" when it stays so,
---"EPIPE" when it has ended.
---Raises an error for functions, threads and other userdata.
---```lua
---local port = loop:port { function(port, message)
---  print(message.op, message.path)   --> resize a.png
---  port:invalidate()
---end }
---port:send { op = "resize", path = "a.png" }
---```
---@async
---@param message any Nil, booleans, numbers, strings, ports, descriptors, tables of these.
---@param options? moonloop.SendOptions How to wait.
---@return true? sent Nil when it was refused.
---@return string? message
---@return string? code
function port:send(message, options) end

---@class moonloop.RequestOptions
---@field timeout? moonloop.Seconds How long; default: for ever.
---@field send_timeout? moonloop.Seconds How long to wait for room in a full port; default 0.
---@field mode? string Runs the loop in this mode.

---Sends a message and waits for the reply.
---A task is suspended meanwhile. Where Lua cannot wait, in a handler of the port itself, and with
---'mode', it runs the loop: in a private mode, where nothing else is served, or in the one that is
---named.
---Returns `nil, message, code`: "ETIMEDOUT", "EPIPE" (nobody will reply: the port has ended, or the
---request was dropped), "EAGAIN" (it is full), "ECANCELED" (the run was stopped).
---```lua
---local port = loop:port { function(port, message, reply) reply(message * 2) end }
---print(port:request(21, { timeout = 1 }))   --> 42
---port:invalidate()
---```
---@async
---@param message any As for `send`.
---@param options? moonloop.RequestOptions How to wait.
---@return any reply A copy of what was replied.
---@return string? message
---@return string? code
function port:request(message, options) end

---Sets the handler of the port; it gets no handle, only the message and the reply.
---With nil the port has none, and messages wait in it.
---Raises an error for another event, when the port is invalid, or when a task receives from it.
---```lua
---local port = loop:port {}
---port:send "early"
---port:on("message", function(message) print(message); port:invalidate() end)   --> early
---```
---@param event "message" There is one.
---@param handler fun(message: any, reply: moonloop.Reply)? The handler, or nil.
---@return moonloop.Port port The handle itself.
function port:on(event, handler) end

---@class moonloop.ReceiveOptions
---@field timeout? moonloop.Seconds How long; default: for ever.

---Takes the next message of a port without a handler; suspends the task until there is one.
---Returns `nil, message, code`: "ETIMEDOUT", "EPIPE" when the port has ended.
---Raises an error when the port has a handler, or another task receives from it.
---```lua
---local port = loop:port {}
---loop:task(function()
---  for _ = 1, 2 do print((port:receive())) end   --> one
---  port:invalidate()   --> two
---end)
---port:send "one"
---port:send "two"
---```
---@async
---@param options? moonloop.ReceiveOptions How to wait.
---@return any message A copy of what was sent.
---@return moonloop.Reply reply Answers it, if it is a request.
function port:receive(options) end

---Answers a request: `reply(value)`.
---- `value` (any): Copied, as by `port:send`.
---Returns `sent` (true?): nil when nobody waits.
---Returns `nil, message, "EPIPE"` when nobody waits for it: a message that was only sent, a request
---that has timed out, or one that was answered.
---```lua
---local port = loop:port { function(port, message, reply) print(reply(1)) end }   --> true
---port:request "count"
---port:invalidate()
---```
---@class moonloop.Reply
---@overload fun(value: any): true?, string?, string?
local reply = {}

---A port that came in a message from another state or process: a way to send to it.
---@class moonloop.RemotePort
local remote_port = {}

---What the port is called where it was made.
---Empty if it has none.
---```lua
---local worker = assert(ml.worker { source = [[
---  local ml = require("moonloop")
---  ml.parent:on("message", function(port)
---    port:send(port.name)
---    ml.parent:on("message", nil)
---  end)
---]] })
---local port = loop:port { name = "answers", function(port, text)
---  print(text)   --> answers
---  port:invalidate()
---end }
---worker.port:send(port)
---```
---@type string
remote_port.name = nil

---Puts a message into the port; its handler gets a copy in a later pass.
---Tables are copied whole, cycles and shared tables too; metatables are not. What cannot be copied
---is an error that names the path to it, such as `message.items[3]`.
---Returns `nil, message, code`: "EAGAIN" when the port is full, "ETIMEDOUT" when it stays so,
---"EPIPE" when it has ended.
---Raises an error for functions, threads and other userdata.
---```lua
---local port = loop:port { function(port, message)
---  print(message.op, message.path)   --> resize a.png
---  port:invalidate()
---end }
---port:send { op = "resize", path = "a.png" }
---```
---@async
---@param message any Nil, booleans, numbers, strings, ports, descriptors, tables of these.
---@param options? moonloop.SendOptions How to wait.
---@return true? sent Nil when it was refused.
---@return string? message
---@return string? code
function remote_port:send(message, options) end

---Sends a message and waits for the reply.
---A task is suspended meanwhile. Where Lua cannot wait, in a handler of the port itself, and with
---'mode', it runs the loop: in a private mode, where nothing else is served, or in the one that is
---named.
---Returns `nil, message, code`: "ETIMEDOUT", "EPIPE" (nobody will reply: the port has ended, or the
---request was dropped), "EAGAIN" (it is full), "ECANCELED" (the run was stopped).
---```lua
---local port = loop:port { function(port, message, reply) reply(message * 2) end }
---print(port:request(21, { timeout = 1 }))   --> 42
---port:invalidate()
---```
---@async
---@param message any As for `send`.
---@param options? moonloop.RequestOptions How to wait.
---@return any reply A copy of what was replied.
---@return string? message
---@return string? code
function remote_port:request(message, options) end

---Gives this way to the port up; the port itself goes on.
---```lua
---local port = loop:port {}
---port:on("message", function(other) print(other == port); port:invalidate() end)
---port:send(port)   --> true
---```
function remote_port:invalidate() end

---Whether messages can still be sent: false once either end was invalidated.
---```lua
---local worker = assert(ml.worker { source = [[
---  local ml = require("moonloop")
---  ml.parent:on("message", function(port)
---    port:send("from the worker: " .. tostring(port:is_valid()))
---    ml.parent:on("message", nil)
---  end)
---]] })
---local port = loop:port { function(port, text) print(text); port:invalidate() end }
---worker.port:send(port)   --> from the worker: true
---```
---@return boolean valid As far as can be known here.
function remote_port:is_valid() end
