---@meta _
-- Processes

---@class moonloop
local ml = {}

---Programs that are started without a shell. See [processes](../processes.md).
---@class moonloop.process
ml.process = {}

---@class moonloop.SpawnOptions
---@field [1] string The program; without a slash it is looked for in PATH.
---@field [2] (string|number)? Its arguments follow.
---@field cwd? string The folder that it begins in.
---@field env? table<string, string> Its environment, instead of ours.
---@field env_add? table<string, string|false> Variables besides; false takes one away.
---@field group? boolean True: it leads a process group, which signals are for.
---@field linger? moonloop.Seconds How long output that others hold open is waited for; default 5.
---@field name? string What reports and traces call it.
---@field stdin? "pipe"|"inherit"|"null"|integer|moonloop.Stream|moonloop.Descriptor Default "inherit". A stream is given away: it is closed here.
---@field stdout? "pipe"|"inherit"|"null"|integer|moonloop.Stream|moonloop.Descriptor Default "inherit".
---@field stderr? "pipe"|"inherit"|"null"|integer|moonloop.Stream|moonloop.Descriptor|"stdout" Default "inherit"; "stdout": where that goes.
---@field detached? boolean True: it has a session of its own, and outlives the script.
---@field modes? moonloop.Modes Where its end is heard of; default "default".
---@field keep_alive? boolean False: a run does not go on for it; default true.
---@field on_exit? fun(process: moonloop.Process, status: moonloop.ProcessStatus) Called at its end.
---@field on_error? moonloop.ErrorHandler Hears of errors in its handler first.

---Starts a program as a child process, without a shell.
---The child has default signals, and no descriptors but its standard streams. When the script ends,
---so do its children: they are asked ("term"), and killed half a second later. A clock that can
---jump does not while a child lives.
---Returns `nil, message, code` when the program cannot be run: "ENOENT", "EACCES", "EMFILE", ...
---Raises an error that names the option that is wrong.
---```lua
---loop:task(function()
---  local p <close> = assert(ml.process.spawn { "printf", "a\\nb\\n", stdout = "pipe" })
---  for line in p.stdout:lines() do print(line) end   --> a
---  --> b
---  print(p:await().code)   --> 0
---end)
---```
---@param options moonloop.SpawnOptions The program, its arguments, and what it is to have.
---@return moonloop.Process? process The child, which runs its program.
---@return string? message
---@return string? code
function ml.process.spawn(options) end

---@class moonloop.ProcessRunOptions
---@field [1] string The program; without a slash it is looked for in PATH.
---@field [2] (string|number)? Its arguments follow.
---@field cwd? string The folder that it begins in.
---@field env? table<string, string> Its environment, instead of ours.
---@field env_add? table<string, string|false> Variables besides; false takes one away.
---@field group? boolean True: it leads a process group, which signals are for.
---@field linger? moonloop.Seconds How long output that others hold open is waited for; default 5.
---@field name? string What reports and traces call it.
---@field input? string What it reads from its standard input.
---@field stdin? "inherit"|"null"|integer|moonloop.Stream|moonloop.Descriptor Default "null".
---@field stdout? "pipe"|"inherit"|"null"|integer|moonloop.Stream|moonloop.Descriptor Default "pipe": it is in the result.
---@field stderr? "pipe"|"inherit"|"null"|integer|moonloop.Stream|moonloop.Descriptor|"stdout" Default "pipe".
---@field timeout? moonloop.Seconds By the system's clock: then it is ended.
---@field grace? moonloop.Seconds Between asking and killing; default 5.
---@field check? boolean True: any end but with code 0 is a failure.
---@field limit? moonloop.Bytes The most of each output; default 67108864.

---Runs a program to its end, and gives all that it wrote.
---Its output is read as it comes, and 'input' is written meanwhile. Standard input is empty unless
---'input' or 'stdin' is given. A task that is cancelled meanwhile asks the child to end.
---Returns `nil, message, code` when the program cannot be run; "ETIMEDOUT" after 'timeout',
---"EMSGSIZE" for more output than 'limit', with 'check' "FAILED" unless it ends with code 0.
---Raises an error that names the option that is wrong, and what `ml.sleep` raises.
---```lua
---loop:task(function()
---  local result = assert(ml.process.run { "sort", input = "b\na\n" })
---  io.write(result.stdout)   --> a
---  --> b
---  print(ml.process.run { "false", check = true })
---  --> nil run: 'false' ended with code 1 FAILED
---end)
---```
---@async
---@param options moonloop.ProcessRunOptions The program, its arguments, and what it is to have.
---@return moonloop.ProcessResult? result How it ended, and its output.
---@return string? message
---@return string? code
function ml.process.run(options) end

---Sends a signal to any process; to a process group, if the number is negative.
---Returns `nil, message, code`: "ESRCH" if there is none, "EPERM" if it is not ours.
---Raises an error for a signal that there is not.
---```lua
---print(ml.process.kill(ml.process.id(), 0))   --> true
---```
---@param pid integer The number of the process.
---@param signal string|integer Such as "term"; 0 only asks whether it is.
---@return boolean? sent True.
---@return string? message
---@return string? code
function ml.process.kill(pid, signal) end

---The number of this process.
---```lua
---print(ml.process.id() > 0)   --> true
---```
---@return integer pid As `ps` shows it.
function ml.process.id() end

---Made by `ml.process.spawn`. The loop holds it until its end was told.
---@class moonloop.Process
local process = {}

---The number of the process.
---Another's, perhaps, once it has ended.
---```lua
---local p = assert(ml.process.spawn { "true" })
---print(p.pid > 0)   --> true
---```
---@type integer
process.pid = nil

---How the process ended, once that was told.
---Nil before.
---```lua
---local p = assert(ml.process.spawn { "true" })
---print(p.status)   --> nil
---p:wait()
---print(p.status.code)   --> 0
---```
---@type moonloop.ProcessStatus?
process.status = nil

---Where the script writes what the process reads, if that was asked for.
---With `stdin = "pipe"`, else nil.
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

---Where the script reads what the process writes, if that was asked for.
---With `stdout = "pipe"`, else nil.
---```lua
---loop:task(function()
---  local p = assert(ml.process.spawn { "echo", "hello", stdout = "pipe" })
---  print(p.stdout:read "l")   --> hello
---end)
---```
---@type moonloop.Stream?
process.stdout = nil

---The same for its standard error.
---With `stderr = "pipe"`, else nil.
---```lua
---loop:task(function()
---  local p = assert(ml.process.spawn { "sh", "-c", "echo no >&2", stderr = "pipe" })
---  print(p.stderr:read "l")   --> no
---end)
---```
---@type moonloop.Stream?
process.stderr = nil

---The name that it was made with, or that of its program.
---As reports and traces show it.
---```lua
---local p = assert(ml.process.spawn { "/bin/true" })
---print(p.name)   --> true
---```
---@type string
process.name = nil

---Suspends the caller until the process has ended and so has its output.
---Output ends when the last process that holds it has closed it, and whoever here reads it has read
---the end. After the child's end that is waited for at most 'linger' seconds.
---Raises what `ml.sleep` raises.
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

---Sends a signal to the process; with 'group' to all of its group.
---Returns `nil, message, code`: "ESRCH" when it has ended.
---```lua
---loop:task(function()
---  local p = assert(ml.process.spawn { "sleep", "60" })
---  p:kill "usr1"
---  print(p:await().signal)   --> usr1
---end)
---```
---@param signal? string|integer Such as "hup"; default "kill".
---@return boolean? sent True.
---@return string? message
---@return string? code
function process:kill(signal) end

---@class moonloop.TerminateOptions
---@field grace? moonloop.Seconds Until it is killed; default 5.
---@field signal? string|integer What asks; default "term".

---Asks the process to end, and kills it if it has not after a time; does not wait for that.
---The time is the system's, whatever the loop's clock is. Has no effect on a process that has
---ended.
---```lua
---loop:task(function()
---  local p = assert(ml.process.spawn { "sleep", "60" })
---  print(p:terminate({ grace = 2 }):await().signal)   --> term
---end)
---```
---@param options? moonloop.TerminateOptions May be left out.
---@return moonloop.Process process The handle itself.
function process:terminate(options) end

---Kills the process at once; its end is told as ever.
---```lua
---local p = assert(ml.process.spawn { "sleep", "60",
---  on_exit = function(p, status) print(status.signal) end })   --> kill
---p:invalidate()
---```
function process:invalidate() end

---Whether the end of the process has not been told yet.
---```lua
---local p = assert(ml.process.spawn { "true" })
---print(p:is_valid())   --> true
---p:wait()
---print(p:is_valid())   --> false
---```
---@return boolean valid True while it runs.
function process:is_valid() end

---Says whether a run goes on for this process alone; it does until told otherwise.
---```lua
---assert(ml.process.spawn { "sleep", "60" }):keep_alive(false)
---print((loop:run()))   --> finished
---```
---@param holds boolean False: nobody waits for it.
---@return moonloop.Process process The handle itself.
function process:keep_alive(holds) end

---How a process ended.
---@class moonloop.ProcessStatus
---@field code? integer Its exit code, unless it was killed.
---@field signal? string What killed it, such as "term".

---What came of a process that was run to its end.
---@class moonloop.ProcessResult
---@field code? integer Its exit code, unless it was killed.
---@field signal? string What killed it, such as "term".
---@field stdout? string What it wrote, if that was read here.
---@field stderr? string The same of its standard error.
