---@meta _
-- Guests

---@class moonloop
local ml = {}

---What `on_limit` may decide when a guest is over a limit: "end" it, "suspend" it (for the number
---of seconds in a second value, if any), or "warn", which lets it go on.
---@alias moonloop.GuestVerdict "end"|"suspend"|"warn"

---What a guest may use.
---@class moonloop.GuestLimits
---@field memory? integer|string Bytes that Lua may hold, or a text such as "8M"; default 64M.
---@field callout? moonloop.Seconds Time for one call, waits not counted; default 1, or `cpu` if that is less; at least 0.01.
---@field callouts? integer Calls of its handlers and functions per second; default: no limit.
---@field cpu? number Processor time per second, up to 1; default: no limit. Use beyond this or another limit per second is carried over to the following seconds.
---@field instructions? integer Instructions of Lua for one call; exact, but costs speed.
---@field handles? integer Handles, timers, tasks, and calls of the host's functions under way, each; default 1000.
---@field share? number How much of the host's time it may take, up to 1; default 1. With 0.1, a turn of 1 ms is followed by a rest of 9 ms.
---@field output? integer Bytes that it may write per second; default 1 MiB. The rest is dropped.
---@field wakes? integer How often it is served per second; default: no limit.
---@field messages? integer Messages, requests, replies and calls of the host's functions per second; default: no limit.
---@field log_lines? integer Lines of `ml.log` per second; default: no limit.

---@class moonloop.GuestOptions
---@field file? string The script's file; `require` finds the modules in the folder of its name, and those beside a `main.lua` or `init.lua`.
---@field text? string The script itself, instead.
---@field args? any What the script gets as `...`; a copy.
---@field allow? string[] What it may use: "timers", "net=127.0.0.1:8000-8010", "fs=read:data/"; default: nothing. See [guests](../guests.md).
---@field limits? moonloop.GuestLimits What it may use.
---@field functions? table<string, function> What it can call as `host.NAME`; called in tasks of the host, with copies of the arguments.
---@field modes? moonloop.Modes The host's modes in which it is served; default "default".
---@field isolate? boolean Whether it runs in a process of its own, which the system confines; default false. See [isolated guests](../guests.md#a-process-of-its-own).
---@field name? string Name in reports; default the file's.
---@field keep_alive? boolean Whether this item alone keeps a run alive; default true.
---@field on_output? fun(guest: moonloop.Guest, text: string) Called with what it writes, instead of standard output.
---@field on_limit? fun(guest: moonloop.Guest, what: string): moonloop.GuestVerdict?, moonloop.Seconds? Called when it is over a limit: "memory", "callout", "output", "stops" (more than ten in a minute), or a limit per second: "callouts", "cpu", "wakes", "messages", "log_lines". Without a verdict, "stops" ends the guest; after any other limit it continues, after a limit per second in the next second.
---@field on_error? moonloop.ErrorHandler Called first for its errors.

---Runs an untrusted script, in this process or, with `isolate`, in one of its own.
---It has globals, libraries, modes and a loop of its own, which this loop serves, and starts when
---this loop next looks. Returns `nil, message, code` for a script that cannot be read or compiled.
---```lua
---local guest = ml.guest {
---  text = "function greet(name) return host.upper('hello ' .. name) end",
---  functions = { upper = function(text) return text:upper() end },
---  limits = { memory = "8M", callout = 0.1 },
---}
---loop:task(function()
---  print(guest:call("greet", "moon"))   --> HELLO MOON
---  guest:stop()
---end)
---```
---@param options moonloop.GuestOptions The script, and what it may do.
---@return moonloop.Guest? guest The handle.
---@return string? message
---@return string? code
function ml.guest(options) end

---An untrusted script; made by `ml.guest`.
---@class moonloop.Guest: moonloop.Item
local guest = {}

---"running", "suspended", "ended", or "idle" when it has nothing left to wait for.
---```lua
---local guest <close> = ml.guest { text = "" }
---print(guest.status)   --> running
---```
---@type "running"|"idle"|"suspended"|"ended"
guest.status = nil

---Calls a global function of the guest in a task of its own, and waits for what it returns.
---Values are copied, as in messages; its errors are raised here. Returns `nil, message,
---"ECANCELED"` if the guest has ended.
---```lua
---local guest <close> = ml.guest { text = "function twice(n) return 2 * n end" }
---loop:task(function()
---  print(guest:call("twice", 21))   --> 42
---end):wait { mode = "default" }
---```
---@async
---@param name string The function's name; dots lead into tables.
---@param ... any Its arguments.
---@return any ... What it returns.
function guest:call(name, ...) end

---Takes the guest out of all modes: none of its code runs until `resume`.
---```lua
---local guest <close> = ml.guest { text = "" }
---print(guest:suspend().status)   --> suspended
---```
---@return moonloop.Guest guest The same.
function guest:suspend() end

---Puts the guest back into the modes that it was in.
---```lua
---local guest <close> = ml.guest { text = "" }
---print(guest:suspend():resume().status)   --> running
---```
---@return moonloop.Guest guest The same.
function guest:resume() end

---Ends the guest with everything it has: tasks, timers, sockets, memory. The same as `invalidate`.
---An isolated one is killed.
---```lua
---local guest = ml.guest { text = "" }
---guest:stop()
---print(guest.status)   --> ended
---```
function guest:stop() end

---What the guest has used.
---@class moonloop.GuestUsage
---@field memory integer Bytes that Lua holds now, and its host for it, such as messages that wait and frozen tables.
---@field handles integer Handles, timers and tasks that it has now.
---@field kinds table<string, integer> The same by kind: "timer", "task", "port", "stream", …; "channel" counts semaphores, too, and "file" handles of `ml.fs`.
---@field callouts integer Calls of its handlers and functions.
---@field stops integer How often a limit has stopped it.
---@field wakes integer How often it was served.
---@field busy moonloop.Seconds How long that took on the host's clock.
---@field written integer Bytes of output that it has written.
---@field sent integer Bytes that it has given to streams, such as sockets.
---@field messages integer Messages, requests, replies and calls of the host's functions, including those that failed.
---@field log_lines integer Lines that it has written by `ml.log`.
---@field instructions? integer Lua's instructions, where there is a limit on them (`limits.instructions`); they are only counted then. They are counted in steps of 250, which grow in long calls; of a call the last, unfinished step is left out.
---@field resident? integer Bytes of memory that the process of an isolated guest has. For such a guest the other figures are those last reported by its process.
---@field cpu? moonloop.Seconds Processor time that it has taken; for an isolated guest that of its process, while that runs. 0 on a virtual clock, which stands while code runs.

---What the guest has used so far, even if it has ended.
---```lua
---local guest <close> = ml.guest { text = "print 'hello'", on_output = function() end }
---loop:task(function()
---  ml.sleep(1)
---  print(guest:usage().written)   --> 6
---end):wait { mode = "default" }
---```
---@return moonloop.GuestUsage usage
function guest:usage() end
