---@meta _
-- Ports

---@class moonloop
local ml = {}

---@class moonloop.Loop
local loop = {}

---@class moonloop.PortOptions
---@field [1] (fun(port: moonloop.Port, message: any, reply: moonloop.Reply))? The handler; `reply` answers a request.
---@field handler? fun(port: moonloop.Port, message: any, reply: moonloop.Reply) The same by name, as in configurations.
---@field capacity? integer Maximum number of messages it holds, up to 16777216; default 65536.
---@field name? string Name in reports and traces.
---@field keep_alive? boolean Whether this item alone keeps a run alive; default true.
---@field on_error? moonloop.ErrorHandler Called first for errors in its handlers.

---@class moonloop.LoopPortOptions: moonloop.PortOptions
---@field modes? moonloop.Modes Modes in which it is served; default "default".

---Makes a port, a queue of messages inside this process, and adds it.
---Raises an error that names the wrong option.
---```lua
---local port = loop:port { name = "jobs", function(port, message, reply)
---  reply { ok = true, id = message.id }
---end }
---print(port:request({ id = 7 }).id)   --> 7
---port:invalidate()
---```
---@param options moonloop.LoopPortOptions Options, with the handler as the first element; without a handler messages wait.
---@return moonloop.Port port The port.
function loop:port(options) end

---Makes a port of this process without adding it to the loop.
---It is in no mode until `loop:add` adds it to one; `loop:port` does both. Takes the options of
---`loop:port` except 'modes'. The functions of `ml.port` are for ports that other processes find by
---name: see [ports.md](../ports.md). With 'over' it makes a port that programs on other machines
---share: see [brokers.md](../brokers.md). Raises an error that names the wrong option.
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
---@overload fun(options: moonloop.BrokerPortOptions): moonloop.BrokerPort
ml.port = {}

---@class moonloop.PortListenOptions
---@field [1] (fun(port: moonloop.Port, message: any, reply: moonloop.Reply, from: moonloop.RemotePort))? The handler; as for `loop:port`.
---@field handler? fun(port: moonloop.Port, message: any, reply: moonloop.Reply, from: moonloop.RemotePort) The same by name, as in configurations.
---@field capacity? integer Maximum number of messages waiting in each direction; default 65536.
---@field keep_alive? boolean Whether this item alone keeps a run alive; default true.
---@field on_error? moonloop.ErrorHandler Called first for errors in its handlers.
---@field modes? moonloop.Modes Modes in which it is served; default "default".

---Opens a port under a name, by which other processes of this user find it.
---The last argument of the handler is the way back to the process that sent the message; its `name`
---says which one. The port is in its modes from the start. The name becomes free when the port or
---the process ends, however that happens. Returns `nil, message, code`: "EADDRINUSE" when the name
---is taken (the message says by which process), "EACCES" when other users have access to the folder
---of the names. Raises an error for an invalid name, and one that names the wrong option.
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
---@param options? moonloop.PortListenOptions Options, with the handler as the first element; without a handler messages wait.
---@return moonloop.Port? port The port.
---@return string? message
---@return string? code
function ml.port.listen(name, options) end

---@class moonloop.PortConnectOptions
---@field [1] (fun(port: moonloop.Port, message: any, reply: moonloop.Reply))? The handler; as for `loop:port`.
---@field handler? fun(port: moonloop.Port, message: any, reply: moonloop.Reply) The same by name, as in configurations.
---@field capacity? integer Maximum number of messages waiting in each direction; default 65536.
---@field keep_alive? boolean Whether this item alone keeps a run alive; default true.
---@field on_error? moonloop.ErrorHandler Called first for errors in its handlers.
---@field modes? moonloop.Modes Modes in which it is served; default "default".

---Connects to the port of that name, in this process or another one of this user.
---Messages sent go to the listening port; messages received are those that its handler sends back
---through its last argument. It keeps a run alive only while it has a handler or a task receives
---from it, and ends with the other process: then `receive` returns "EPIPE". Returns `nil, message,
---code`: "ECONNREFUSED" when no process listens, "EACCES" when it belongs to another user. Raises
---an error for an invalid name, and one that names the wrong option.
---```lua
---print(ml.port.connect "org.example.absent")
-----> nil port 'org.example.absent': no process is listening on it ECONNREFUSED
---```
---@param name string Letters, digits, `.`, `-` and `_`, at most 64; such as "org.example.app".
---@param options? moonloop.PortConnectOptions Options, with the handler as the first element; without a handler messages wait.
---@return moonloop.Port? port This end of the connection.
---@return string? message
---@return string? code
function ml.port.connect(name, options) end

---A queue of messages, made by `loop:port`, `ml.port`, its functions and `ml.worker`.
---@class moonloop.Port: moonloop.Item
local port = {}

---How many messages are in the port.
---Sent and not yet received.
---```lua
---local port <close> = loop:port { print }
---port:send(1)
---print(port.waiting)   --> 1
---```
---@type integer
port.waiting = nil

---Maximum number of messages that the port holds.
---Fixed when it is made; default 65536.
---```lua
---local port <close> = loop:port { capacity = 1, print }
---port:send(1)
---print(select(3, port:send(2)))   --> EAGAIN
---```
---@type integer
port.capacity = nil

---@class moonloop.SendOptions
---@field timeout? moonloop.Seconds How long to wait for room in a full port; default 0.

---Sends a message; the handler receives a copy in a later pass.
---Tables are copied whole, cycles and shared tables included; metatables are not. What cannot be
---copied raises an error with its path, such as `message.items[3]`: functions, threads and other
---userdata. Returns `nil, message, code`: "EAGAIN" when the port is full, "ETIMEDOUT" when it stays
---full, "EPIPE" when it has ended.
---```lua
---local port = loop:port { function(port, message)
---  print(message.op, message.path)   --> resize a.png
---  port:invalidate()
---end }
---port:send { op = "resize", path = "a.png" }
---```
---@async
---@param message any Nil, booleans, numbers, strings, ports, descriptors, and tables of these.
---@param options? moonloop.SendOptions The timeout.
---@return true? sent Nil when it was refused.
---@return string? message
---@return string? code
function port:send(message, options) end

---@class moonloop.RequestOptions
---@field timeout? moonloop.Seconds Default: none.
---@field send_timeout? moonloop.Seconds How long to wait for room in a full port; default 0.
---@field mode? string Run the loop in this mode.

---Sends a message and waits for the reply.
---A task is suspended meanwhile. Where Lua cannot wait, in a handler of the port itself, and with
---'mode', it runs the loop instead: in a private mode, which serves nothing else, or in the given
---one. Returns `nil, message, code`: "ETIMEDOUT", "EPIPE" (there will be no reply: the port has
---ended, or the request was dropped), "EAGAIN" (it is full), "ECANCELED" (the run was stopped).
---```lua
---local port = loop:port { function(port, message, reply) reply(message * 2) end }
---print(port:request(21, { timeout = 1 }))   --> 42
---port:invalidate()
---```
---@async
---@param message any As for `send`.
---@param options? moonloop.RequestOptions The timeout.
---@return any reply A copy of the reply.
---@return string? message
---@return string? code
function port:request(message, options) end

---Sets the handler of the port; it receives the message and the reply, but no handle.
---With nil the port has no handler, and messages wait. Raises an error for another event, when the
---port is invalid, or when a task receives from it.
---```lua
---local port = loop:port {}
---port:send "early"
---port:on("message", function(message) print(message); port:invalidate() end)   --> early
---```
---@param event "message" "message" is the only choice.
---@param handler fun(message: any, reply: moonloop.Reply, from: moonloop.RemotePort?)? The handler, or nil.
---@return moonloop.Port port The handle itself.
function port:on(event, handler) end

---@class moonloop.ReceiveOptions
---@field timeout? moonloop.Seconds Default: none.

---Receives the next message of a port without a handler, and waits until there is one.
---Returns `nil, message, code`: "ETIMEDOUT", "EPIPE" when the port has ended. Raises an error when
---the port has a handler, or another task is receiving from it.
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
---@param options? moonloop.ReceiveOptions The timeout.
---@return any message A copy of the message.
---@return moonloop.Reply reply Answers it, if it is a request.
function port:receive(options) end

---Answers a request: `reply(value)`.
---The value is copied as by `port:send`. Returns true; or `nil, message, "EPIPE"` when no reply is
---expected: the message was only sent, the request has timed out, or it was already answered.
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

---The name of the port where it was made.
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

---Sends a message; the handler receives a copy in a later pass.
---Tables are copied whole, cycles and shared tables included; metatables are not. What cannot be
---copied raises an error with its path, such as `message.items[3]`: functions, threads and other
---userdata. Returns `nil, message, code`: "EAGAIN" when the port is full, "ETIMEDOUT" when it stays
---full, "EPIPE" when it has ended.
---```lua
---local port = loop:port { function(port, message)
---  print(message.op, message.path)   --> resize a.png
---  port:invalidate()
---end }
---port:send { op = "resize", path = "a.png" }
---```
---@async
---@param message any Nil, booleans, numbers, strings, ports, descriptors, and tables of these.
---@param options? moonloop.SendOptions The timeout.
---@return true? sent Nil when it was refused.
---@return string? message
---@return string? code
function remote_port:send(message, options) end

---Sends a message and waits for the reply.
---A task is suspended meanwhile. Where Lua cannot wait, in a handler of the port itself, and with
---'mode', it runs the loop instead: in a private mode, which serves nothing else, or in the given
---one. Returns `nil, message, code`: "ETIMEDOUT", "EPIPE" (there will be no reply: the port has
---ended, or the request was dropped), "EAGAIN" (it is full), "ECANCELED" (the run was stopped).
---```lua
---local port = loop:port { function(port, message, reply) reply(message * 2) end }
---print(port:request(21, { timeout = 1 }))   --> 42
---port:invalidate()
---```
---@async
---@param message any As for `send`.
---@param options? moonloop.RequestOptions The timeout.
---@return any reply A copy of the reply.
---@return string? message
---@return string? code
function remote_port:request(message, options) end

---Drops this sender; the port itself goes on.
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
---@return boolean valid As far as is known here.
function remote_port:is_valid() end
