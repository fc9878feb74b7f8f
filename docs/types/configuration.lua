---@meta _
-- Configurations
--
-- A configuration is a Lua file that returns a table, or such a table passed to `ml.configure`.
-- Annotate it with `---@type moonloop.Configuration`, and your editor knows its fields. See
-- [configuration.md](../configuration.md).

---A function; or the name of one, such as "handlers.beat": `beat` of what `require "handlers"`
---returns.
---@alias moonloop.ConfiguredHandler string|function

---A configuration of a loop.
---@class moonloop.Configuration
---@field modes? moonloop.ConfiguredModes The common modes.
---@field limits? moonloop.ConfiguredLimits Limits for the scripts.
---@field on_error? "continue"|"stop"|moonloop.ConfiguredHandler What to do after an error in a handler; default "continue".
---@field timers? table<string, moonloop.ConfiguredTimer> Timers by name.
---@field sources? table<string, moonloop.ConfiguredSource> Sources by name; one field says what kind each is.
---@field observers? table<string, moonloop.ConfiguredObserver> Observers by name.
---@field signals? table<string, moonloop.ConfiguredSignal|moonloop.ConfiguredHandler> Actions by signal, such as `term`; they do not keep a run alive.
---@field run? moonloop.ConfiguredPhase[] The phases, in order; default: one run of "default".

---The modes of a configuration.
---@class moonloop.ConfiguredModes
---@field common? string|string[] Names of common modes.

---Limits in a configuration, as for `ml.limit`.
---@class moonloop.ConfiguredLimits
---@field memory? moonloop.Bytes|string Memory limit for Lua, e.g. "64M".
---@field callout? moonloop.Seconds Time limit for one call of a handler.
---@field instructions? integer Instruction limit for one call of a handler.
---@field handles? integer Limit for each of these: timers, other items, tasks, performs, open files, waiting notifications, (together) channels, semaphores and ports over a broker, and (together) handles of luv and sockets of LuaSocket.
---@field nesting? integer Limit for nested calls and runs.

---What every item of a configuration may have.
---@class moonloop.ConfiguredItem
---@field handler? moonloop.ConfiguredHandler Receives what a handler made in a script receives.
---@field modes? moonloop.Modes Modes in which it is served; default "default".
---@field keep_alive? boolean Whether this item alone keeps a run alive; default true.
---@field on_error? moonloop.ConfiguredHandler Called first for errors in its handlers.

---A timer of a configuration; 'every' or 'first', and 'handler' are required.
---@class moonloop.ConfiguredTimer: moonloop.ConfiguredItem
---@field every? moonloop.Seconds Interval between fires, > 0.
---@field first? moonloop.Seconds Delay of the first fire; default: 'every'.
---@field at? number The date of its only fire, as from `os.time`.
---@field cron? string A schedule in cron's syntax, as for `loop:cron`; instead of 'every' and 'first'.
---@field zone? string The time zone of the schedule, such as "Europe/Berlin"; default: the machine's.
---@field tolerance? moonloop.Seconds How much later than due it may fire; default 0.

---An observer of a configuration.
---@class moonloop.ConfiguredObserver: moonloop.ConfiguredItem
---@field on moonloop.Activity|moonloop.Activity[] The activities it is called for.
---@field order? integer Position among the observers of an activity; default 0.
---@field repeats? boolean False: it ends after its first call.

---The action for a signal: exactly one of 'stop', 'reload' and 'handler'.
---@class moonloop.ConfiguredSignal
---@field stop? any Stop the run with this value.
---@field reload? true Load the file again.
---@field handler? moonloop.ConfiguredHandler Called for each signal.
---@field modes? moonloop.Modes Modes in which it is served.

---A phase: one run of the loop.
---@class moonloop.ConfiguredPhase
---@field mode? string The mode to run; default "default".
---@field timeout? moonloop.Seconds Time limit of the run.
---@field until_handled? boolean Return after a source, fd or port was served.

---A source of a configuration, of any kind.
---@alias moonloop.ConfiguredSource moonloop.ConfiguredPerform|moonloop.ConfiguredDescriptor|moonloop.ConfiguredListener|moonloop.ConfiguredSignals|moonloop.ConfiguredWatch|moonloop.ConfiguredPressure|moonloop.ConfiguredProcess|moonloop.ConfiguredPort

---A custom source, signalled by `running.sources.NAME:signal()`; without 'handler'.
---@class moonloop.ConfiguredPerform
---@field perform moonloop.ConfiguredHandler Called once after it was signalled.
---@field schedule? moonloop.ConfiguredHandler Called when it is added to a mode.
---@field cancel? moonloop.ConfiguredHandler Called when it is removed from a mode.
---@field order? integer Position among the signalled sources; default 0.
---@field modes? moonloop.Modes Modes in which it is served; default "default".
---@field keep_alive? boolean Whether this item alone keeps a run alive; default true.
---@field on_error? moonloop.ConfiguredHandler Called first for errors in its handlers.

---A descriptor; 'read', 'write' or both are required, without 'handler'.
---@class moonloop.ConfiguredDescriptor
---@field fd integer The number of an open descriptor.
---@field read? moonloop.ConfiguredHandler Called in each pass while it is readable.
---@field write? moonloop.ConfiguredHandler Called while it is writable.
---@field modes? moonloop.Modes Modes in which it is served; default "default".
---@field keep_alive? boolean Whether this item alone keeps a run alive; default true.
---@field on_error? moonloop.ConfiguredHandler Called first for errors in its handlers.

---A listening server; its handler gets a stream and the peer.
---@class moonloop.ConfiguredListener: moonloop.ConfiguredItem
---@field listen string "unix:PATH", "unix:@NAME", "tcp:PORT" or "tcp:HOST:PORT".
---@field backlog? integer How many connections may wait to be accepted.

---Signals of the process, as events.
---@class moonloop.ConfiguredSignals: moonloop.ConfiguredItem
---@field signal string|string[] Names of signals.

---A file watch.
---@class moonloop.ConfiguredWatch: moonloop.ConfiguredItem
---@field watch string The path of a file or folder.
---@field debounce? moonloop.Seconds How long it must be quiet before changes are reported.
---@field recursive? boolean Watch subfolders as well.

---Pressure on memory, processors, or input and output, as `loop:pressure` reports it.
---@class moonloop.ConfiguredPressure: moonloop.ConfiguredItem
---@field pressure "memory"|"cpu"|"io" What tasks wait for.
---@field stall? moonloop.Seconds How long they must wait, in all, within the window; default a tenth of it.
---@field window? moonloop.Seconds From 0.5 to 10; default 2. Without privileges a multiple of 2.
---@field level? "some"|"full" Which time counts: when some tasks wait, or when all do; default "some".
---@field file? string The pressure file, such as that of a control group, or a FIFO; default the system's.

---A child process; its handler is called when it ends.
---@class moonloop.ConfiguredProcess: moonloop.ConfiguredItem
---@field process string[] The program and its arguments; no shell reads them.
---@field cwd? string Its working directory.

---A named port, which other processes can find.
---@class moonloop.ConfiguredPort: moonloop.ConfiguredItem
---@field port string Its name, such as "org.example.app".
---@field capacity? integer Maximum number of messages waiting in each direction.

---What `ml.configure` made.
---@class moonloop.Running
---@field timers table<string, moonloop.Timer> The timers by name.
---@field sources table<string, moonloop.Item|moonloop.Process> The sources by name.
---@field observers table<string, moonloop.Observer> The observers by name.
---@field signals table<string, moonloop.Signal> The signals by name.
local running = {}

---Runs the phases, or the loop in one mode.
---```lua
---local running <close> = ml.configure {
---  timers = { beat = { first = 1, handler = function(timer) print(timer.name) end } },
---}
---print(running:run())
-----> beat
-----> finished nil
---```
---@param options? { mode: string, timeout: number } One mode instead of the phases; a time limit for everything.
---@return moonloop.RunResult result Why the last run ended.
---@return any value The value passed to `loop:stop`.
function running:run(options) end

---Ends everything that the configuration made; so does a `<close>` variable.
---```lua
---local running = ml.configure { timers = { beat = { every = 1, handler = print } } }
---running:close()
---print(loop:run())   --> finished nil false
---```
function running:close() end
