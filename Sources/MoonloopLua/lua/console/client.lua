-- Finds running programs and talks to their consoles.
--
--     local console = assert(client.connect("1234"))
--     local reply = assert(console:request { measure = "json" })
local ml = require "moonloop"
local host = require "moonloop.console.host"
local server = require "moonloop.console.server"
local wire = require "moonloop.console.wire"
local json = require "moonloop.json"
local loop = ml.current()

local client = {}

local Console = {}
Console.__index = Console

local commands = {}
for name in ("run replay repl attach ps top test plan simulate check new help"):gmatch "%a+" do
  commands[name] = true
end

-- What a program is called, and its script, from what follows `moonloop` on its command line.
local function described(arguments)
  local command = commands[arguments[1]] and arguments[1]
  local name, file, has_chunk, has_jobs
  local place = command and 2 or 1
  while arguments[place] do
    local argument = arguments[place]
    local is_end = argument == "--"
    if is_end or argument:sub(1, 1) ~= "-" or argument == "-" then
      file = arguments[is_end and place + 1 or place]
      break
    end
    local jobs = argument:match "^%-%-jobs=(.*)" or argument:match "^%-j(.+)"
      or (argument == "--jobs" or argument == "-j") and arguments[place + 1]
    has_jobs = has_jobs or command == "test" and jobs and jobs ~= "1"
    has_chunk = has_chunk or argument:find "^%-e" ~= nil
    name = argument:match "^%-%-name=(.*)" or name
    if client.takes_value[argument] then
      place = place + 1
      if argument == "--name" then name = arguments[place] end
    end
    place = place + 1
  end
  if has_jobs then return name or command, file end  -- its jobs have the names of the files
  if has_chunk and (command == "run" or not file) then return name or "chunk", "-e" end
  if file == "-" then return name or "stdin", file end
  local base = file and file:match "([^/]+)$" or command or "moonloop"
  return name or base:gsub("%.lua$", "") .. "", file
end

--- The options of `run`, `repl` and `test` that take a separate value.
client.takes_value = {}
for option in ([[
  -e -l --mode --timeout --clock --memory --callout --handles --allow --on-error --trace-out --name
  --record --filter --filter-out --shard --durations --tags -t --exclude-tags
  --exclude-names-file --pattern -p --exclude-pattern --repeat --orders --seed --shuffle-seed
  --bail --jobs -j --leaks --coverage-config-file --output -o --slowest --log-success --color
  --directory -C --helper -Xhelper --lpath -m --cpath --run -r --config-file -f -Xoutput --lua
  --loaders --lang
]]):gmatch "%S+" do
  client.takes_value[option] = true
end

--- This user's programs that can open a console: { pid, name, file, since } each.
function client.programs()
  local found = {}
  for _, process in ipairs(host.processes()) do
    local name, file = described(process.arguments)
    found[#found + 1] = {
      pid = process.pid, name = name, file = file or "", since = process.since,
    }
  end
  return found
end

--- The process ID for a name or number; or nil and a message.
function client.find(target)
  local pid = math.tointeger(tonumber(target))
  if pid and pid > 0 and pid < 1 << 31 then return pid end
  local fitting = {}
  for _, program in ipairs(client.programs()) do
    if program.name == target or program.file == target then fitting[#fitting + 1] = program end
  end
  if #fitting == 1 then return fitting[1].pid end
  if #fitting == 0 then
    return nil, ("no program '%s' is running; see 'moonloop ps'"):format(target), "ESRCH"
  end
  local numbers = {}
  for place, program in ipairs(fitting) do numbers[place] = program.pid end
  return nil, ("%d programs are called '%s': %s; choose one by its process ID"):format(
    #fitting, target, table.concat(numbers, ", ")), "EEXIST"
end

-- Asks again until there is an answer, at growing intervals: a program that is busy or runs in a
-- private mode serves its consoles when asked twice in the same call-out. Calls `look(count)` each
-- time.
local function nudge(pid, look)
  local count = 0
  local timer = loop:every(0.2, function()
    count = count + 1
    if look then look(count) end
    if count <= 5 or count % 25 < 2 then host.ask(pid) end
  end)
  timer:keep_alive(false)
  return timer
end

local reasons = {
  ESRCH = "there is no process %d; see 'moonloop ps'",
  EPERM = "process %d belongs to another user",
  EOPNOTSUPP = "process %d has no console: it is no moonloop program, is recorded, or runs a guest",
}

-- Why a program does not answer, as far as that is visible from outside.
local function silence(pid)
  local file = io.open(("/proc/%d/stat"):format(pid))
  local state = file and file:read "a":match "^.*%) (%a)"
  if file then file:close() end
  local why = "its loop is busy outside Lua, in a guest or in a finalizer, "
    .. "or its runs are nested too deeply"
  if state == "T" or state == "t" then
    why = "it is suspended"
  elseif state == "S" or state == "D" then
    why = "a system call blocks its thread (io.read, os.execute, …)"
  end
  return ("process %d does not answer: %s"):format(pid, why)
end

-- The socket appears once the program's loop gets to it.
local function open(pid, timeout)
  -- The folder of another user's program may be made only when that is asked for its console.
  local function connect()
    local path, message, code = server.path(pid)
    if not path then return nil, message, code end
    return ml.net.connect { path = path, timeout = timeout }
  end
  local stream = connect()
  if stream then return stream end
  local ok, message, code = host.ask(pid)
  if not ok then return nil, reasons[code] and reasons[code]:format(pid) or message, code end
  local deadline = ml.now() + timeout
  repeat
    ml.sleep(0.01)
    stream = connect()
    if stream then return stream end
  until ml.now() > deadline
  return nil, silence(pid), "ETIMEDOUT"
end

--- Connects to a program by name or number, waiting at most this many seconds (5).
--- Returns the console; or nil, message, code.
function client.connect(target, options)
  local timeout = options and options.timeout or 5
  local pid, message, code = client.find(target)
  if not pid then return nil, message, code end
  local _ <close> = nudge(pid)
  local stream
  stream, message, code = open(pid, timeout)
  if not stream then return nil, message, code end
  local line = stream:read("l", { timeout = timeout })
  local hello = line and json.decode(line)
  if type(hello) ~= "table" or hello.event ~= "hello" then
    stream:invalidate()
    return nil, silence(pid), "ETIMEDOUT"
  end
  return setmetatable({ stream = stream, pid = pid, hello = hello, last = 0 }, Console)
end

local function write_line(stream, line)
  local ok, problem, code = stream:write(line, "\n")
  if ok then return true end
  return nil, problem, code
end

--- Sends a message without waiting for an answer. Returns true; or nil, message, code.
function Console:send(message)
  return write_line(self.stream, json.encode(message, { is_lenient = true }))
end

--- The program's next message, an answer or an event; or nil, message, code.
function Console:receive()
  local line, message, code = self.stream:read "l"
  if not line then return nil, message or "the program has ended", code or "EPIPE" end
  self.is_heard, self.interrupts = true, nil
  local reply, problem, why = json.decode(line)
  if type(reply) == "table" then return reply end
  return nil, problem or "the program sent something that is not a message", why or "EBADMSG"
end

-- An answer may take its time, but a program that sends nothing at all is reported.
local function watch(console)
  local has_told = false
  return function(count)
    if count == 2 or count % 25 == 0 then
      console.is_heard = false
      console:send { ping = true }
    elseif count == 7 or count % 25 == 7 then
      if console.is_heard or has_told or not console.on_silence then return end
      has_told, console.interrupts = true, 0
      console.on_silence(silence(console.pid))
    end
  end
end

local function decode_values(reply)
  local values = type(reply.values) == "table" and reply.values or {}
  for place, text in pairs(values) do
    values[place] = type(text) == "string" and json.decode(text) or nil
  end
  reply.values = values
  return reply
end

--- Sends a request and waits for its answer; other messages go to `self.on_event`.
--- Returns the answer, with JSON values decoded; or nil, message, code.
function Console:request(request)
  self.last = self.last + 1
  request.id = self.last
  local line = json.encode(request, { is_lenient = true })
  if #line >= wire.LINE_LIMIT then
    return { ok = false, error = ("the text is too long: %d bytes, the limit is %d; "
      .. "load it from a file with dofile"):format(#line, wire.LINE_LIMIT) }
  end
  local ok, message, code = write_line(self.stream, line)
  if not ok then return nil, message, code end
  local _ <close> = nudge(self.pid, watch(self))
  if self.waiting then
    local reply = ml.await(function(resume) self.waiting[request.id] = resume end)
    if reply then return decode_values(reply) end
    return nil, "the program has ended", "EPIPE"
  end
  while true do
    local reply
    reply, message, code = self:receive()
    if not reply then return nil, message, code end
    if reply.id == request.id then return decode_values(reply) end
    if reply.event and self.on_event then self.on_event(reply) end
  end
end

--- From now on several tasks may send requests: this task reads, until the program ends.
function Console:dispatch()
  self.waiting = {}
  while true do
    local message = self:receive()
    if not message then break end
    local resume = message.id and self.waiting[message.id]
    if resume then
      self.waiting[message.id] = nil
      resume(message)
    elseif message.event and self.on_event then
      self.on_event(message)
    end
  end
  for _, resume in pairs(self.waiting) do resume(nil) end
end

--- Cancels what is evaluated for us. If nothing is, a call-out of the program that runs for 0.2 s
--- more stops as at a breakpoint. A second request within two seconds ends it in any case. Returns
--- how often this was asked since the program's last message.
function Console:interrupt()
  local now = ml.now()
  local is_hard = self.interrupted and now - self.interrupted < 2 and next(self.waiting) ~= nil
  self.interrupted = now
  self:send { interrupt = true }
  host.ask(self.pid, is_hard)
  for _, delay in ipairs { 0.2, 0.4 } do
    loop:after(delay, function() host.ask(self.pid, is_hard) end):keep_alive(false)
  end
  self.interrupts = self.interrupts and self.interrupts + 1
  return self.interrupts or 0
end

function Console:close() self.stream:invalidate() end

return client
