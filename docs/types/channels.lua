---@meta _
-- Channels and semaphores

---@class moonloop
local ml = {}

---@class moonloop.ChannelOptions
---@field capacity? integer How many values it buffers; default 0: a sender waits for a receiver.
---@field name? string Name in reports of deadlocks.

---Makes a channel, through which tasks pass values to one another.
---Raises an error that names the wrong option.
---```lua
---local jobs = ml.channel(16)
---loop:task(function() for job in jobs:items() do print(job) end end)   --> build
---loop:task(function() jobs:send "build"; jobs:close() end)
---```
---@overload fun(capacity: integer): moonloop.Channel
---@param options? moonloop.ChannelOptions Options, or just the capacity.
---@return moonloop.Channel channel The channel.
function ml.channel(options) end

---@class moonloop.SemaphoreOptions
---@field permits integer Number of permits, at least 1.
---@field name? string Name in reports of deadlocks.

---Makes a semaphore, which limits how many tasks do something at the same time.
---Raises an error that names the wrong option.
---```lua
---local gate = ml.semaphore(2)
---for i = 1, 4 do loop:task(function() gate:with(ml.sleep, 1); print(i, ml.now()) end) end
---```
---@overload fun(permits: integer): moonloop.Semaphore
---@param options moonloop.SemaphoreOptions Options, or just the number of permits.
---@return moonloop.Semaphore semaphore The semaphore.
function ml.semaphore(options) end

---A queue through which tasks pass values and wait for one another; made by `ml.channel`.
---A channel does not keep a run alive.
---@class moonloop.Channel
local channel = {}

---The name given when it was made, or an empty string.
---Reports of deadlocks show it.
---```lua
---print(ml.channel({ name = "jobs" }).name)   --> jobs
---```
---@type string
channel.name = nil

---How many values it buffers.
---0: a sender waits for a receiver.
---```lua
---print(ml.channel(16).capacity)   --> 16
---```
---@type integer
channel.capacity = nil

---How many values are in it now; `#channel` is the same.
---Without those of waiting senders.
---```lua
---local jobs = ml.channel(4)
---jobs:try_send "one"
---print(jobs.count, #jobs)   --> 1 1
---```
---@type integer
channel.count = nil

---Sends a value, and waits while the channel is full.
---With capacity 0 it waits until the value is received. Tasks are served in the order in which they
---began to wait. A task that is cancelled while it waits has not sent. Returns `nil, "closed",
---"EPIPE"` when the channel is closed, before or meanwhile, and `nil, message, "ETIMEDOUT"`:
---then the value is not sent. Raises an error where Lua cannot wait; use `try_send` there.
---```lua
---local jobs = ml.channel(1)
---loop:task(function()
---  print(jobs:send "first")                      --> true
---  print(select(3, jobs:send("second", { timeout = 1 })))   --> ETIMEDOUT
---end)
---```
---@async
---@param value any Anything except nil, which means the end; it is not copied.
---@param options? moonloop.TimeoutOptions The timeout.
---@return true? sent True once it was received, or is in the channel.
---@return string? message
---@return string? code
function channel:send(value, options) end

---Sends a value if that is possible at once; never waits.
---Returns `nil, "full", "EAGAIN"` if it would have to wait, and `nil, "closed", "EPIPE"`.
---```lua
---local jobs = ml.channel(1)
---print(jobs:try_send "first")    --> true
---print(jobs:try_send "second")   --> nil full EAGAIN
---```
---@param value any Anything except nil.
---@return true? sent True if it was received, or is in the channel.
---@return string? message
---@return string? code
function channel:try_send(value) end

---Receives the next value, and waits while there is none.
---Values arrive in the order of sending. Tasks are served in the order in which they began to wait.
---Returns `nil, message, "ETIMEDOUT"`. Raises an error where Lua cannot wait; use `try_receive`
---there.
---```lua
---local jobs = ml.channel(1)
---loop:task(function() print(jobs:receive()) end)   --> build
---jobs:try_send "build"
---```
---@async
---@param options? moonloop.TimeoutOptions The timeout.
---@return any value The value; nil when the channel is closed and empty.
---@return string? message
---@return string? code
function channel:receive(options) end

---Receives the next value if there is one; never waits.
---Returns `nil, "empty", "EAGAIN"` if it would have to wait.
---```lua
---local jobs = ml.channel(1)
---print(jobs:try_receive())   --> nil empty EAGAIN
---```
---@return any value The value; nil when the channel is closed and empty.
---@return string? message
---@return string? code
function channel:try_receive() end

---Iterates over the values in a `for`, until the channel is closed and empty.
---```lua
---local jobs = ml.channel(2)
---jobs:try_send "one"; jobs:try_send "two"; jobs:close()
---for job in jobs:items() do print(job) end   --> one
-----> two
---```
---@return fun(channel: moonloop.Channel): any next The iterator; it may suspend.
---@return moonloop.Channel channel The iterator's argument.
function channel:items() end

---Ends sending: receivers get the remaining values, then nil.
---Senders, including waiting ones, get `nil, "closed", "EPIPE"`. Has no effect on a closed channel.
---```lua
---local jobs = ml.channel(1)
---jobs:try_send "last"
---jobs:close()
---print(jobs:receive(), jobs:receive())   --> last nil
---```
function channel:close() end

---Closes the channel and drops its values; so does a `<close>` variable.
---```lua
---local jobs = ml.channel(1)
---jobs:try_send "lost"
---jobs:invalidate()
---print(jobs:receive())   --> nil
---```
function channel:invalidate() end

---Whether it can still be sent to: it was neither closed nor invalidated.
---```lua
---local jobs = ml.channel(1)
---jobs:close()
---print(jobs:is_valid())   --> false
---```
---@return boolean valid False once it was closed.
function channel:is_valid() end

---Limits how many tasks do something at the same time; made by `ml.semaphore`.
---@class moonloop.Semaphore
local semaphore = {}

---The name given when it was made, or an empty string.
---Reports of deadlocks show it.
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
---0 while a task is waiting.
---```lua
---local gate = ml.semaphore(4)
---gate:try_acquire()
---print(gate.available)   --> 3
---```
---@type integer
semaphore.available = nil

---Takes a permit, and waits while none is free; the longest waiting task gets the next one.
---The permit is given back once: by `<close>` or `permit:release()`, or, without the handle, by
---`semaphore:release()`. A permit that is merely dropped stays taken. Returns `nil, message,
---"ETIMEDOUT"`, and `nil, "closed", "EPIPE"` when the semaphore is invalidated, before or
---meanwhile. Raises an error where Lua cannot wait; use `try_acquire` there.
---```lua
---local gate = ml.semaphore(1)
---loop:task(function()
---  local permit <close> = gate:acquire()
---  ml.sleep(1)
---end)
---loop:task(function()
---  print(select(3, gate:acquire { timeout = 0.5 }))   --> ETIMEDOUT
---end)
---```
---@async
---@param options? moonloop.TimeoutOptions The timeout.
---@return moonloop.Permit? permit Releases the permit at the end of a block.
---@return string? message
---@return string? code
function semaphore:acquire(options) end

---Takes a permit if one is free; never waits.
---Returns `nil, "no permit is free", "EAGAIN"` if it would have to wait.
---```lua
---local gate = ml.semaphore(1)
---local permit <close> = gate:try_acquire()
---print(gate:try_acquire())   --> nil no permit is free EAGAIN
---```
---@return moonloop.Permit? permit As for `acquire`.
---@return string? message
---@return string? code
function semaphore:try_acquire() end

---Calls a function with a permit, and releases the permit however the function ends.
---Also when the function raises, or its task is cancelled. Raises what the function raises. Returns
---`nil, "closed", "EPIPE"` when the semaphore is invalidated, before or meanwhile.
---```lua
---local gate = ml.semaphore(1)
---local function work(name) ml.sleep(1); print(name) end
---for _, name in ipairs { "one", "two" } do
---  loop:task(function() gate:with(work, name) end)   --> one
---end                                                 --> two
---```
---@async
---@param fn fun(...): ... The function, which may wait.
---@param ... any Arguments for the function.
---@return any ... What the function returned.
---@return string? message
---@return string? code
function semaphore:with(fn, ...) end

---Releases a permit without its handle; the longest waiting task gets it.
---Raises an error when no permit is taken: one was released twice.
---```lua
---local gate = ml.semaphore(1)
---gate:try_acquire()
---gate:release()
---print(pcall(gate.release, gate))
---```
function semaphore:release() end

---Ends the semaphore: waiting and later calls get `nil, "closed", "EPIPE"`.
---Permits that are taken can still be given back. A `<close>` variable does the same.
---```lua
---local gate = ml.semaphore(1)
---gate:invalidate()
---print(gate:try_acquire())   --> nil closed EPIPE
---```
function semaphore:invalidate() end

---Whether it has not been invalidated.
---```lua
---print(ml.semaphore(1):is_valid())   --> true
---```
---@return boolean valid False once it has ended.
function semaphore:is_valid() end

---A permit, as `semaphore:acquire` returns it.
---@class moonloop.Permit
local permit = {}

---Releases the permit; has no effect the second time. `<close>` does the same.
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

---Whether it has not been given back.
---```lua
---local permit <close> = ml.semaphore(1):try_acquire()
---print(permit:is_valid())   --> true
---```
---@return boolean valid False once it was released.
function permit:is_valid() end
