---@meta _
-- Signals

---@class moonloop.Loop
local loop = {}

---@class moonloop.SignalOptions
---@field [1] string|integer|(string|integer)[] The signals.
---@field [2] fun(signal: moonloop.Signal, name: string, info: moonloop.SignalInfo) The handler.
---@field name? string What reports and traces call it.
---@field keep_alive? boolean False: a run does not go on for it; default true.
---@field on_error? moonloop.ErrorHandler Hears of errors in its handlers first.

---@class moonloop.LoopSignalOptions: moonloop.SignalOptions
---@field modes? moonloop.Modes Where it is served; default "default".

---Calls a function for each signal of a kind that the process gets, and adds it to the loop.
---Signals of one number that come before the handler could be called are one call, with a count.
---Every handle of a signal hears of it, on whatever loop. As long as there is one the signal has no
---other effect; after the last, what the program did before is done again. Other ways to call it:
---with one table, as `ml.signal`, that may name 'modes' too.
---Raises an error for a signal that is unknown, or that cannot be handled; it says why.
---```lua
---loop:signal("usr1", function(signal, name, info)
---  print(name, info.pid == ml.process.id())   --> usr1 true
---  signal:invalidate()
---end)
---ml.process.kill(ml.process.id(), "usr1")
---```
---@param signals string|integer|(string|integer)[]|moonloop.LoopSignalOptions A name such as "term", "SIGTERM" or "rtmin+1", a number, or a list of these.
---@param handler? fun(signal: moonloop.Signal, name: string, info: moonloop.SignalInfo) The function.
---@return moonloop.Signal signal The handle.
function loop:signal(signals, handler) end

---@class moonloop
local ml = {}

---Makes a handle of signals without adding it to the loop; they are taken from now on.
---It is in no mode yet, and is served once `loop:add` has put it into one.
---Raises an error for a signal that is unknown, or that cannot be handled; it says why.
---```lua
---local signal <close> = ml.signal { { "usr2", "hup" }, name = "reload", print }
---loop:add(signal, "common")
---```
---@param options moonloop.SignalOptions The signals and the handler.
---@return moonloop.Signal signal The handle.
function ml.signal(options) end

---Made by `loop:signal` and `ml.signal`; signals of the process as events.
---@class moonloop.Signal: moonloop.Item
local signal = {}

---The names of the signals that it hears of.
---In lower case; empty once it has ended.
---```lua
---local signal <close> = loop:signal({ "usr1", "SIGUSR2" }, print)
---print(table.concat(signal.signals, " "))   --> usr1 usr2
---```
---@type string[]
signal.signals = nil

---What is known of a signal that has come.
---@class moonloop.SignalInfo
---@field number integer The signal's number.
---@field count integer How many became one call, as far as the system tells.
---@field pid integer The process that sent the last; 0: the kernel.
---@field uid integer The user of that process.
