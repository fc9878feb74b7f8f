---@meta _
-- Signals

---@class moonloop.Loop
local loop = {}

---@class moonloop.SignalOptions
---@field [1] string|integer|(string|integer)[] The signals.
---@field [2] (fun(signal: moonloop.Signal, name: string, info: moonloop.SignalInfo))? The handler.
---@field handler? fun(signal: moonloop.Signal, name: string, info: moonloop.SignalInfo) The same by name, as in configurations.
---@field name? string Name in reports and traces.
---@field keep_alive? boolean Whether this item alone keeps a run alive; default true.
---@field on_error? moonloop.ErrorHandler Called first for errors in its handlers.

---@class moonloop.LoopSignalOptions: moonloop.SignalOptions
---@field modes? moonloop.Modes Modes in which it is served; default "default".

---Calls a function for each of these signals that the process receives.
---Signals of one number that arrive before the handler could be called are merged into one call,
---with a count. Every handle of a signal is called, on whatever loop. While there is a handle the
---signal has no other effect; after the last one its former action is restored. May also be called
---with one table, as `ml.signal`, which then may contain 'modes'. Returns `nil, message, "EMFILE"`
---if the process has too many open files. Raises an error for an unknown signal, and for one that
---cannot be handled, with the reason.
---```lua
---loop:signal("usr1", function(signal, name, info)
---  print(name, info.pid == ml.process.id())   --> usr1 true
---  signal:invalidate()
---end)
---ml.process.kill(ml.process.id(), "usr1")
---```
---@param signals string|integer|(string|integer)[]|moonloop.LoopSignalOptions A name such as "term", "SIGTERM" or "rtmin+1", a number, or a list of these.
---@param handler? fun(signal: moonloop.Signal, name: string, info: moonloop.SignalInfo) The function to call.
---@return moonloop.Signal? signal The handle.
---@return string? message
---@return string? code
function loop:signal(signals, handler) end

---@class moonloop
local ml = {}

---Makes a handle of signals without adding it to the loop; signals are collected from now on.
---It is in no mode until `loop:add` adds it to one. Returns `nil, message, "EMFILE"` if the process
---has too many open files. Raises an error for an unknown signal, and for one that cannot be
---handled, with the reason.
---```lua
---local signal <close> = ml.signal { { "usr2", "hup" }, name = "reload", print }
---loop:add(signal, "common")
---```
---@param options moonloop.SignalOptions The signals and the handler.
---@return moonloop.Signal? signal The handle.
---@return string? message
---@return string? code
function ml.signal(options) end

---Signals of the process as events; made by `loop:signal` and `ml.signal`.
---@class moonloop.Signal: moonloop.Item
local signal = {}

---The names of its signals.
---In lower case; empty once it has ended.
---```lua
---local signal <close> = loop:signal({ "usr1", "SIGUSR2" }, print)
---print(table.concat(signal.signals, " "))   --> usr1 usr2
---```
---@type string[]
signal.signals = nil

---Details of a received signal.
---@class moonloop.SignalInfo
---@field number integer The signal's number.
---@field count integer How many signals were merged into this call, as far as the system says.
---@field pid integer The process that sent the last one; 0: the kernel.
---@field uid integer The user of that process.
