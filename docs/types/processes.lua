---@meta _
-- Processes

---@class moonloop
local ml = {}

---`ml.process`: programs, started without a shell. See [processes.md](../processes.md).
---@class moonloop.process
ml.process = {}

---@class moonloop.SpawnOptions
---@field [1] string The program; without a slash it is searched for in PATH.
---@field [2] (string|number)? Its arguments follow.
---@field cwd? string Its working directory.
---@field env? table<string, string> Its whole environment; default: ours.
---@field env_add? table<string, string|false> Additional variables; false removes one.
---@field group? boolean Make it the leader of a process group, to which signals go.
---@field linger? moonloop.Seconds How long to wait for output that other processes hold open; default 5.
---@field name? string Name in reports and traces.
---@field stdin? "pipe"|"inherit"|"null"|integer|moonloop.Stream|moonloop.Descriptor Default "inherit". A stream is given away: it is closed here.
---@field stdout? "pipe"|"inherit"|"null"|integer|moonloop.Stream|moonloop.Descriptor Default "inherit".
---@field stderr? "pipe"|"inherit"|"null"|integer|moonloop.Stream|moonloop.Descriptor|"stdout" Default "inherit"; "stdout": the same place as standard output.
---@field pty? boolean Give it a pseudo-terminal, which is all three of its streams; `stdin` and `stdout` are our side.
---@field columns? integer The width of that terminal; default 80.
---@field rows? integer Its height; default 24.
---@field descriptors? table<integer, integer> More descriptors, by the child's numbers from 3 to 255.
---@field uid? integer Run it as this user; needs permission to.
---@field gid? integer Run it as this group; needs permission to.
---@field detached? boolean Give it a session of its own, in which it outlives the script.
---@field modes? moonloop.Modes Modes in which its end is reported; default "default".
---@field keep_alive? boolean Whether this item alone keeps a run alive; default true.
---@field on_exit? fun(process: moonloop.Process, status: moonloop.ProcessStatus) Called when it ends.
---@field on_error? moonloop.ErrorHandler Called first for errors in its handler.

---Starts a program as a child process, without a shell.
---The child has default signals, and no descriptors except its standard streams. When the script
---ends so do its children: they get "term", and are killed half a second later. A clock that can
---jump does not jump while a child lives. Returns `nil, message, code` when the program cannot be
---run: "ENOENT", "EACCES", "EMFILE", ... Raises an error that names the wrong option.
---```lua
---loop:task(function()
---  local p <close> = assert(ml.process.spawn { "printf", "a\\nb\\n", stdout = "pipe" })
---  for line in p.stdout:lines() do print(line) end   --> a
---  --> b
---  print(p:await().code)   --> 0
---end)
---```
---@param options moonloop.SpawnOptions The program, its arguments and its environment.
---@return moonloop.Process? process The running child.
---@return string? message
---@return string? code
function ml.process.spawn(options) end

---@class moonloop.ProcessRunOptions
---@field [1] string The program; without a slash it is searched for in PATH.
---@field [2] (string|number)? Its arguments follow.
---@field cwd? string Its working directory.
---@field env? table<string, string> Its whole environment; default: ours.
---@field env_add? table<string, string|false> Additional variables; false removes one.
---@field group? boolean Make it the leader of a process group, to which signals go.
---@field linger? moonloop.Seconds How long to wait for output that other processes hold open; default 5.
---@field name? string Name in reports and traces.
---@field input? string Its standard input, as text.
---@field stdin? "inherit"|"null"|integer|moonloop.Stream|moonloop.Descriptor Default "null".
---@field stdout? "pipe"|"inherit"|"null"|integer|moonloop.Stream|moonloop.Descriptor Default "pipe": it is part of the result.
---@field stderr? "pipe"|"inherit"|"null"|integer|moonloop.Stream|moonloop.Descriptor|"stdout" Default "pipe".
---@field descriptors? table<integer, integer> More descriptors, by the child's numbers from 3 to 255.
---@field uid? integer Run it as this user; needs permission to.
---@field gid? integer Run it as this group; needs permission to.
---@field timeout? moonloop.Seconds Real time after which it is terminated.
---@field grace? moonloop.Seconds Time between "term" and killing it; default 5.
---@field check? boolean Treat any end except exit code 0 as a failure.
---@field limit? moonloop.Bytes Limit for each output; default 64 MiB.

---Runs a program to its end, and returns everything it wrote.
---Its output is read as it arrives, while 'input' is written. Standard input is empty unless
---'input' or 'stdin' is given. If the task is cancelled meanwhile, the child is asked to end.
---Returns `nil, message, code` when the program cannot be run; "ETIMEDOUT" after 'timeout',
---"EMSGSIZE" for more output than 'limit', "ENOMEM" for more than a memory limit has room for, and
---with 'check' "FAILED" unless it ends with code 0. If it was run, the fourth result is what it
---would have returned otherwise: how it ended, and what it had written, up to 'limit'; not after
---"ENOMEM".
---Raises an error that names the wrong option, and what `ml.sleep` raises.
---```lua
---loop:task(function()
---  local result = assert(ml.process.run { "sort", input = "b\na\n" })
---  io.write(result.stdout)   --> a
---  --> b
---  local _, message, _, failed = ml.process.run { "sh", "-c", "echo half; exit 3", check = true }
---  print(message)               --> ml.process.run: 'sh' ended with code 3
---  io.write(failed.stdout)      --> half
---end)
---```
---@async
---@param options moonloop.ProcessRunOptions The program, its arguments and its environment.
---@return moonloop.ProcessResult? result How it ended, and its output.
---@return string? message
---@return string? code
---@return moonloop.ProcessResult? failed How a run that failed has ended, and its output.
function ml.process.run(options) end

---Sends a signal to any process; to a process group, if the number is negative.
---Returns `nil, message, code`: "ESRCH" if there is none, "EPERM" if it is not ours. Raises an
---error for an unknown signal.
---```lua
---print(ml.process.kill(ml.process.id(), 0))   --> true
---```
---@param pid integer The number of the process.
---@param signal string|integer Such as "term"; 0 only asks whether the process exists.
---@return boolean? sent True on success.
---@return string? message
---@return string? code
function ml.process.kill(pid, signal) end

---Sends systemd, if it started the program, a notification in the format of `sd_notify`.
---Otherwise does nothing. "READY=1", "RELOADING=1", "STOPPING=1" and "WATCHDOG=1" are sent by the
---program itself.
---```lua
---ml.process.notify "STATUS=3 connections"
---```
---@param lines string Such as "STATUS=…" or "EXTEND_TIMEOUT_USEC=…"; one or more lines.
function ml.process.notify(lines) end

---Returns the number of this process.
---```lua
---print(ml.process.id() > 0)   --> true
---```
---@return integer pid As `ps` shows it.
function ml.process.id() end

---A child process, made by `ml.process.spawn`; the loop holds it until its end was reported.
---@class moonloop.Process
local process = {}

---The number of the process.
---May belong to another process once this one has ended.
---```lua
---local p = assert(ml.process.spawn { "true" })
---print(p.pid > 0)   --> true
---```
---@type integer
process.pid = nil

---How the process ended, once that was reported.
---Nil before.
---```lua
---local p = assert(ml.process.spawn { "true" })
---print(p.status)   --> nil
---p:wait()
---print(p.status.code)   --> 0
---```
---@type moonloop.ProcessStatus?
process.status = nil

---The stream to the process's standard input.
---Nil unless it was made with `stdin = "pipe"`.
---```lua
---loop:task(function()
---  local p = assert(ml.process.spawn { "cat", stdin = "pipe", stdout = "pipe" })
---  p.stdin:write "hello"
---  p.stdin:close()
---  print(p.stdout:read "a")   --> hello
---end)
---```
---@type moonloop.Stream?
process.stdin = nil

---The stream from the process's standard output.
---Nil unless it was made with `stdout = "pipe"`.
---```lua
---loop:task(function()
---  local p = assert(ml.process.spawn { "echo", "hello", stdout = "pipe" })
---  print(p.stdout:read "l")   --> hello
---end)
---```
---@type moonloop.Stream?
process.stdout = nil

---The stream from the process's standard error.
---Nil unless it was made with `stderr = "pipe"`.
---```lua
---loop:task(function()
---  local p = assert(ml.process.spawn { "sh", "-c", "echo no >&2", stderr = "pipe" })
---  print(p.stderr:read "l")   --> no
---end)
---```
---@type moonloop.Stream?
process.stderr = nil

---The name given when it was made, or that of its program.
---Reports and traces show it.
---```lua
---local p = assert(ml.process.spawn { "/bin/true" })
---print(p.name)   --> true
---```
---@type string
process.name = nil

---Waits until the process and its output have ended.
---Output ends when the last process that holds it has closed it, and its reader here has reached
---the end. After the end of the child that takes at most 'linger' seconds. Raises what `ml.sleep`
---raises, and an error for options: `wait` has a timeout.
---```lua
---loop:task(function()
---  local p = assert(ml.process.spawn { "sh", "-c", "exit 3" })
---  print(p:await().code)   --> 3
---end)
---```
---@async
---@return moonloop.ProcessStatus status How it ended; the same each time.
function process:await() end

---Runs the loop until the process has ended, where the caller cannot suspend.
---Returns `nil, message, code`: "ETIMEDOUT", or "ECANCELED" after `loop:stop()`.
---```lua
---local p = assert(ml.process.spawn { "true" })
---print(p:wait().code)   --> 0
---```
---@param options? moonloop.WaitOptions As for `task:wait`.
---@return moonloop.ProcessStatus? status How it ended.
---@return string? message
---@return string? code
function process:wait(options) end

---Sends a signal to the process; with 'group' to its whole group.
---Returns `nil, message, code`: "ESRCH" when it has ended.
---```lua
---loop:task(function()
---  local p = assert(ml.process.spawn { "sleep", "60" })
---  p:kill "usr1"
---  print(p:await().signal)   --> usr1
---end)
---```
---@param signal? string|integer Such as "hup"; default "kill".
---@return boolean? sent True on success.
---@return string? message
---@return string? code
function process:kill(signal) end

---@class moonloop.TerminateOptions
---@field grace? moonloop.Seconds Time until it is killed; default 5.
---@field signal? string|integer The signal to send first; default "term".

---Asks the process to end, and kills it if it has not ended in time; does not wait.
---The time is real time, whatever the loop's clock. Has no effect on a process that has ended.
---```lua
---loop:task(function()
---  local p = assert(ml.process.spawn { "sleep", "60" })
---  print(p:terminate({ grace = 2 }):await().signal)   --> term
---end)
---```
---@param options? moonloop.TerminateOptions Optional.
---@return moonloop.Process process The handle itself.
function process:terminate(options) end

---Sets the size of the terminal of a process that was started with `pty = true`.
---Programs in it get SIGWINCH. Returns `nil, message, code` when the terminal is closed: "EPIPE".
---```lua
---loop:task(function()
---  local p <close> = assert(ml.process.spawn { "sh", "-c", "read x; stty size", pty = true })
---  p:resize(100, 30)
---  p.stdin:write "\n"
---  p.stdout:read "l"
---  print(p.stdout:read "l":match "%d+ %d+")   --> 30 100
---end)
---```
---@param columns integer The width, from 1 to 1000.
---@param rows integer The height, from 1 to 1000.
---@return true? resized
---@return string? message
---@return string? code
function process:resize(columns, rows) end

---Kills the process at once; its end is reported as usual.
---```lua
---local p = assert(ml.process.spawn { "sleep", "60",
---  on_exit = function(p, status) print(status.signal) end })   --> kill
---p:invalidate()
---```
function process:invalidate() end

---Whether the end of the process has not been reported yet.
---```lua
---local p = assert(ml.process.spawn { "true" })
---print(p:is_valid())   --> true
---p:wait()
---print(p:is_valid())   --> false
---```
---@return boolean valid True while it runs.
function process:is_valid() end

---Sets whether this process alone keeps a run alive; the default is true.
---```lua
---assert(ml.process.spawn { "sleep", "60" }):keep_alive(false)
---print((loop:run()))   --> finished
---```
---@param holds boolean False: a run does not wait for it.
---@return moonloop.Process process The handle itself.
function process:keep_alive(holds) end

---How a process ended.
---@class moonloop.ProcessStatus
---@field code? integer Exit code, unless a signal ended it.
---@field signal? string The signal that ended it, such as "term".

---The result of a process that was run to its end.
---@class moonloop.ProcessResult
---@field code? integer Exit code, unless a signal ended it.
---@field signal? string The signal that ended it, such as "term".
---@field stdout? string Its output, if that was read here.
---@field stderr? string Its standard error, if that was read here.
