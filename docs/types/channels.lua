---@meta _
-- Channels and semaphores

---@class moonloop
local ml = {}

---@class moonloop.ChannelOptions
---@field capacity? integer How many values it holds; default 0: a sender waits for a receiver.
---@field name? string What deadlocks call it.

---Makes a channel, through which tasks hand values to one another.
---Raises an error that names the option that is wrong.
---```lua
---local jobs = ml.channel(16)
---loop:task(function() for job in jobs:items() do print(job) end end)   --> build
---loop:task(function() jobs:send "build"; jobs:close() end)
---```
---@overload fun(capacity: integer): moonloop.Channel
---@param options? moonloop.ChannelOptions Options; the capacity may stand for them.
---@return moonloop.Channel channel The channel.
function ml.channel(options) end

---@class moonloop.SemaphoreOptions
---@field permits integer How many there are, at least 1.
---@field name? string What deadlocks call it.

---Makes a semaphore, which lets so many tasks do a thing at a time.
---Raises an error that names the option that is wrong.
---```lua
---local gate = ml.semaphore(2)
---for i = 1, 4 do loop:task(function() gate:with(ml.sleep, 1); print(i, ml.now()) end) end
---```
---@overload fun(permits: integer): moonloop.Semaphore
---@param options moonloop.SemaphoreOptions Options; the number of permits may stand for them.
---@return moonloop.Semaphore semaphore The semaphore.
function ml.semaphore(options) end

---Made by `ml.channel`: tasks hand values to one another, in order, and wait for one another. A
---channel holds no run open.
---@class moonloop.Channel
local channel = {}

---The name that it was made with, or an empty string.
---As deadlocks show it.
---```lua
---print(ml.channel({ name = "jobs" }).name)   --> jobs
---```
---@type string
channel.name = nil

---How many values it holds for those who will receive.
---0: a sender waits for a receiver.
---```lua
---print(ml.channel(16).capacity)   --> 16
---```
---@type integer
channel.capacity = nil

---How many values are in it now; `#channel` is the same.
---Without those of senders that wait.
---```lua
---local jobs = ml.channel(4)
---jobs:try_send "one"
---print(jobs.count, #jobs)   --> 1 1
---```
---@type integer
channel.count = nil

---Hands a value to whoever receives; waits while the channel is full.
---With capacity 0 it waits until somebody takes the value. Who began to wait first is served first.
---A task that is cancelled while it waits has sent nothing.
---Returns `nil, "closed", "EPIPE"` when the channel is or gets closed, and `nil, "timed out",
---"ETIMEDOUT"`: then nobody gets the value.
---Raises an error where Lua cannot wait; use `try_send` there.
---```lua
---local jobs = ml.channel(1)
---loop:task(function()
---  print(jobs:send "first")                      --> true
---  print(jobs:send("second", { timeout = 1 }))   --> nil timed out ETIMEDOUT
---end)
---```
---@async
---@param value any Anything but nil, which is the end; the very value.
---@param options? moonloop.DeadlineOptions How to wait.
---@return true? sent Once it was taken, or lies in the channel.
---@return string? message
---@return string? code
function channel:send(value, options) end

---Sends a value if that can be done at once, anywhere.
---Returns `nil, "full", "EAGAIN"` if it would have to wait, and `nil, "closed", "EPIPE"`.
---```lua
---local jobs = ml.channel(1)
---print(jobs:try_send "first")    --> true
---print(jobs:try_send "second")   --> nil full EAGAIN
---```
---@param value any Anything but nil.
---@return true? sent If it was taken, or lies in the channel.
---@return string? message
---@return string? code
function channel:try_send(value) end

---Takes the next value; waits while there is none.
---Values come in the order of sending. Who began to wait first gets the first.
---Returns `nil, "timed out", "ETIMEDOUT"` when the time is over.
---Raises an error where Lua cannot wait; use `try_receive` there.
---```lua
---local jobs = ml.channel(1)
---loop:task(function() print(jobs:receive()) end)   --> build
---jobs:try_send "build"
---```
---@async
---@param options? moonloop.DeadlineOptions How to wait.
---@return any value The value; nil when the channel is closed and empty.
---@return string? message
---@return string? code
function channel:receive(options) end

---Takes the next value if there is one, anywhere.
---Returns `nil, "empty", "EAGAIN"` if it would have to wait.
---```lua
---local jobs = ml.channel(1)
---print(jobs:try_receive())   --> nil empty EAGAIN
---```
---@return any value The value; nil when the channel is closed and empty.
---@return string? message
---@return string? code
function channel:try_receive() end

---For a `for`: receives until the channel is closed and empty.
---```lua
---local jobs = ml.channel(2)
---jobs:try_send "one"; jobs:try_send "two"; jobs:close()
---for job in jobs:items() do print(job) end   --> one
-----> two
---```
---@return fun(channel: moonloop.Channel): any next Receives; may suspend.
---@return moonloop.Channel channel What it is called with.
function channel:items() end

---Says that nothing more is sent: receivers get the rest, then nil.
---Senders, those that wait too, get `nil, "closed", "EPIPE"`. Has no effect on a closed channel.
---```lua
---local jobs = ml.channel(1)
---jobs:try_send "last"
---jobs:close()
---print(jobs:receive(), jobs:receive())   --> last nil
---```
function channel:close() end

---Closes the channel and drops what is in it; so does a `<close>` variable.
---```lua
---local jobs = ml.channel(1)
---jobs:try_send "lost"
---jobs:invalidate()
---print(jobs:receive())   --> nil
---```
function channel:invalidate() end

---Whether something can still be sent: it was neither closed nor invalidated.
---```lua
---local jobs = ml.channel(1)
---jobs:close()
---print(jobs:is_valid())   --> false
---```
---@return boolean valid False once it was closed.
function channel:is_valid() end

---Made by `ml.semaphore`: no more tasks than it has permits do a thing at a time.
---@class moonloop.Semaphore
local semaphore = {}

---The name that it was made with, or an empty string.
---As deadlocks show it.
---```lua
---print(ml.semaphore({ permits = 1, name = "gate" }).name)   --> gate
---```
---@type string
semaphore.name = nil

---How many permits there are in all.
---At least 1.
---```lua
---print(ml.semaphore(4).permits)   --> 4
---```
---@type integer
semaphore.permits = nil

---How many permits are free now.
---0 while somebody waits.
---```lua
---local gate = ml.semaphore(4)
---gate:try_acquire()
---print(gate.available)   --> 3
---```
---@type integer
semaphore.available = nil

---Takes a permit; waits while all are given. Who began to wait first gets the first.
---The permit is given back once: by `<close>` or `permit:release()`, or, for who does not keep it,
---by `semaphore:release()`. A permit that is only dropped stays taken.
---Returns `nil, "timed out", "ETIMEDOUT"`, and `nil, "closed", "EPIPE"` when the semaphore is or
---gets invalidated.
---Raises an error where Lua cannot wait; use `try_acquire` there.
---```lua
---local gate = ml.semaphore(1)
---loop:task(function()
---  local permit <close> = gate:acquire()
---  ml.sleep(1)
---end)
---loop:task(function()
---  print(gate:acquire { timeout = 0.5 })   --> nil timed out ETIMEDOUT
---end)
---```
---@async
---@param options? moonloop.DeadlineOptions How to wait.
---@return moonloop.Permit? permit Gives it back at the end of a block.
---@return string? message
---@return string? code
function semaphore:acquire(options) end

---Takes a permit if one is free, anywhere.
---Returns `nil, "no permit is free", "EAGAIN"` if it would have to wait.
---```lua
---local gate = ml.semaphore(1)
---local permit <close> = gate:try_acquire()
---print(gate:try_acquire())   --> nil no permit is free EAGAIN
---```
---@return moonloop.Permit? permit As of `acquire`.
---@return string? message
---@return string? code
function semaphore:try_acquire() end

---Calls a function with a permit, which is given back however that ends.
---Also when the function raises, or its task is cancelled.
---Raises what the function raises.
---Returns `nil, "closed", "EPIPE"` when the semaphore is or gets invalidated.
---```lua
---local gate = ml.semaphore(1)
---local function work(name) ml.sleep(1); print(name) end
---for _, name in ipairs { "one", "two" } do
---  loop:task(function() gate:with(work, name) end)   --> one
---end                                                 --> two
---```
---@async
---@param fn fun(...): ... What is called; it may wait.
---@param ... any Given to the function.
---@return any ... What the function returned.
---@return string? message
---@return string? code
function semaphore:with(fn, ...) end

---Gives back a permit whose handle nobody keeps; whoever has waited longest gets it.
---Raises an error when all permits are here: one was released twice.
---```lua
---local gate = ml.semaphore(1)
---gate:try_acquire()
---gate:release()
---print(pcall(gate.release, gate))
---```
function semaphore:release() end

---Ends the semaphore: who waits or asks from now on is told that it is closed.
---Permits that were given can still be given back. A `<close>` variable does the same.
---```lua
---local gate = ml.semaphore(1)
---gate:invalidate()
---print(gate:try_acquire())   --> nil closed EPIPE
---```
function semaphore:invalidate() end

---Whether it was not invalidated.
---```lua
---print(ml.semaphore(1):is_valid())   --> true
---```
---@return boolean valid False once it has ended.
function semaphore:is_valid() end

---What `semaphore:acquire` gives.
---@class moonloop.Permit
local permit = {}

---Gives the permit back; has no effect the second time. `<close>` does the same.
---```lua
---local gate = ml.semaphore(1)
---local permit = gate:try_acquire()
---permit:release()
---print(gate.available)   --> 1
---```
function permit:release() end

---The same as `release`.
---```lua
---local gate = ml.semaphore(1)
---gate:try_acquire():invalidate()
---print(gate.available)   --> 1
---```
function permit:invalidate() end

---Whether it was not given back.
---```lua
---local permit <close> = ml.semaphore(1):try_acquire()
---print(permit:is_valid())   --> true
---```
---@return boolean valid False once it was released.
function permit:is_valid() end
