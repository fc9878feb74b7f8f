-- Programs that a test starts, in their own environment; they end with the test.
local ml = require "moonloop"
local beds = require "moonloop.testing.beds"
local failure = require "moonloop.testing.failure"
local given = require("moonloop.text.host").given
local keys = require "moonloop.testing.keys"
local output = require "moonloop.testing.output"
local quoting = require "moonloop.text.quoting"
local screen = require "moonloop.testing.screen"
local site = require "moonloop.text.site"
local spelling = require "moonloop.text.spelling"

local programs = {}

local program = {}

-- What a program has of its process, and its screen.
local FIELDS = { "name", "pid", "status", "stdin", "stdout", "stderr", "keep_alive", "terminate",
  "wait", "invalidate", "screen" }
local IS_FIELD = {}
for _, name in ipairs(FIELDS) do IS_FIELD[name] = true end

program.__index = function(self, key)
  local method = program[key]
  if method ~= nil then return method end
  if key == "screen" then
    error("program.screen: it has no terminal; start it with 'pty = true'", 2)
  end
  if not IS_FIELD[key] then spelling.no_field("program", key, FIELDS, program) end
  local value = rawget(self, "process")[key]
  if key == "status" and value then self.is_known = true end
  if value == nil and key == "stdin" then
    error("program.stdin: it has none; start it with 'stdin = \"pipe\"'", 2)
  end
  return value
end
program.__name = "moonloop.testing.program"

-- Seconds between asking a program to end and killing it, at the end of a test.
local GRACE = 2
-- Seconds for the rest of its output once it has ended, and for its end once that has.
local REST, DYING = 0.1, 3
-- Signals that end a program for a mistake of its own.
local CRASHES = {
  abrt = true, bus = true, fpe = true, ill = true, segv = true, sys = true, trap = true,
}

--- A program's environment: only what makes it the same on every machine.
-- @param home its home folder
function programs.environment(home)
  return {
    PATH = os.getenv "PATH" or "/usr/local/bin:/usr/bin:/bin", HOME = home, TMPDIR = home,
    LANG = "C.UTF-8", LC_ALL = "C.UTF-8", TZ = "UTC", TERM = "dumb",
  }
end

--- Checks the options that are ours; mistakes are errors at the line of the test.
-- @param name the method of `t`, for messages
function programs.check(name, options)
  local added = options.env_add
  if added == nil then return end
  local wrong = type(added) ~= "table" and "must be a table, got " .. given(added)
  for variable in pairs(wrong and {} or added) do
    if type(variable) ~= "string" then
      wrong = "must be a table such as { HOME = \"/\" }, got an element without a name: "
        .. given(added[variable])
    end
  end
  if wrong then error(("t:%s: 'env_add' %s"):format(name, wrong), 3) end
end

--- The options of a program: ours unless the test sets others.
-- @param options those of `ml.process.spawn`; `env = "inherit"` passes our own environment
function programs.options(options, home)
  local result = {}
  for name, value in pairs(options) do result[name] = value end
  if result.env == "inherit" then
    result.env = nil
  elseif result.env == nil then
    result.env = programs.environment(home())
  end
  if result.env and result.env_add then
    local env = {}
    for name, value in pairs(result.env) do env[name] = value end
    for name, value in pairs(result.env_add) do env[name] = value or nil end
    result.env, result.env_add = env, nil
  end
  return result
end

-- The screen of a program on a pseudo-terminal; it answers what the program asks the terminal.
local function screen_of(process, options)
  local input = process.stdin
  local function reply(text) if input:is_valid() then input:write(text) end end
  return screen.new(options.columns or 80, options.rows or 24, reply)
end

--- Starts a program and reads its output from the first byte on.
-- @return the program; or nil, message, code
function programs.spawn(options, home)
  local all = programs.options(options, home)
  if all.pty then
    if not options.env then all.env.TERM = "xterm-256color" end
  else
    all.stdin = all.stdin or "null"
    all.stdout = all.stdout or "pipe"
    all.stderr = all.stderr or "pipe"
  end
  if all.group == nil then all.group = true end  -- so that its own children end with it
  local process, message, code = ml.process.spawn(all)
  if not process then return nil, message, code end
  -- `is_known` is whether the test has asked how it ended, `sent` the signals that it has sent,
  -- `is_told` whether a report has said how it ended, `forced` in words that it had to be killed.
  local self = { process = process, name = process.name, outputs = {}, sent = {},
    place = site() or "?", is_known = false, is_told = false, forced = false }
  if all.pty then self.screen = screen_of(process, all) end
  for _, name in ipairs({ "stdout", "stderr" }) do
    local stream = process[name]
    if stream then
      local what = ("%s of '%s'"):format(all.pty and "terminal" or name, process.name)
      self[name] = output.new(stream, what, self.screen and function(data)
        screen.feed(self.screen, data)
      end)
      self[name].how_ended = function() return programs.how_ended(self, true) end
      self.outputs[#self.outputs + 1] = self[name]
    end
  end
  if self.screen then screen.follow(self.screen, self.stdout) end
  return setmetatable(self, program)
end

-- The screen; an error for a program without one, at the line of the test.
local function need_screen(self, name)
  return rawget(self, "screen")
    or error(("program:%s: it has no terminal; start it with 'pty = true'"):format(name), 3)
end

-- Writes to its terminal. Returns nil, message and code if that is closed.
local function send(self, name, bytes)
  local input = self.process.stdin
  if input:is_valid() then return input:write(bytes) end
  return nil, ("program:%s: the terminal of '%s' is closed"):format(name, self.name), "EPIPE"
end

--- Types a text.
function program:type(text)
  need_screen(self, "type")
  return send(self, "type", text)
end

--- Presses keys, such as "enter", "up" or "ctrl-c".
function program:press(...)
  local is_application = screen.has_application_keys(need_screen(self, "press"))
  local bytes = {}
  for place, key in ipairs { ... } do
    local found, message = keys.bytes(key, is_application)
    if not found then error("program:press: " .. message, 2) end
    bytes[place] = found
  end
  return send(self, "press", table.concat(bytes))
end

--- Gives its terminal another size.
function program:resize(columns, rows)
  local shown = need_screen(self, "resize")
  local ok, message, code = self.process:resize(columns, rows)
  if ok then screen.resize(shown, columns, rows) end
  return ok, message, code
end

--- Waits until its standard output matches; see `output.expect`.
function program:expect(pattern, within, options)
  if getmetatable(self) ~= program then
    error("program:expect: must be called with a colon", 2)
  end
  return self.stdout:expect(pattern, within, options, "program:expect")
end

--- Waits until it has ended.
-- @param within seconds, by default as long as the test may take
-- @return a table with code or signal
function program:await(within)
  if within ~= nil and (type(within) ~= "number" or not (within >= 0)) then
    error("program:await: the time must be seconds, got " .. given(within), 2)
  end
  local function wait() return self.process:await() end
  local status
  if within then status = ml.timeout(within, wait) else status = wait() end
  if not status then
    local said = programs.said(self, "")
    failure.fail(("'%s' had not ended after %g s%s"):format(self.name, within,
      said == "" and "" or ". It wrote:\n" .. said), 2)
  end
  self.is_known = true
  return status
end

-- Remembers that the test has sent a signal.
local function note_sent(self, signal)
  if type(signal) == "string" then
    self.sent[signal:lower():gsub("^sig", "")] = true
  else
    self.is_known = true
  end
end

function program:kill(signal)
  note_sent(self, signal or "kill")
  return self.process:kill(signal)
end
function program:is_valid() return self.process:is_valid() end

--- Asks it to end, waits, and kills it if it does not.
-- @return how it ended
function program:stop(options)
  if options ~= nil and type(options) ~= "table" then
    error("program:stop: takes a table such as { grace = 5 }, got " .. given(options), 2)
  end
  local asked = self.process:is_valid()
  local signal = options and options.signal or "term"
  local grace = options and options.grace or GRACE
  if asked then
    note_sent(self, signal)
    local all = { grace = GRACE }
    for name, value in pairs(options or {}) do all[name] = value end
    self.process:terminate(all)
  end
  local status = self.process:await()
  if asked and status.signal == "kill" and not self.sent.kill then
    self.forced = ("did not end within %g s of SIG%s and was killed"):format(grace,
      (tostring(signal):upper():gsub("^SIG", "")))
  end
  return status
end

--- How a program ended, in words.
function programs.how(status)
  return status.signal and "was killed by SIG" .. status.signal:upper()
    or "ended with code " .. tostring(status.code)
end

--- How a program has ended; nil if it runs. One whose outputs have ended is about to.
-- @param has_ended one of them has, and the other is perhaps not read yet
function programs.how_ended(self, has_ended)
  local process = self.process
  local is_over = #self.outputs > 0
  for _, one in ipairs(self.outputs) do is_over = is_over and (has_ended or one.ended) end
  -- Virtual time would stand while it runs on without its outputs.
  if is_over and not process.status and beds.clock() ~= "virtual" then
    ml.timeout(DYING, process.await, process)
  end
  return process.status and programs.how(process.status)
end

-- How it died, unless the test has asked for that or for its end.
local function died(self)
  local status = self.process.status
  if not status or not self.forced and (self.is_known or next(self.sent)) then return nil end
  return ("'%s' (made at %s) %s"):format(self.name, self.place,
    self.forced or programs.how(status))
end

--- Ends the program, its input and its readers: what it left behind may hold its output open. The
--- test fails if it has crashed and no report has said so.
function programs.close(self)
  -- A shell at a terminal takes no notice of SIGTERM.
  if rawget(self, "screen") and self.process:is_valid() then self.process:kill "hup" end
  self:stop()
  local input = self.process.stdin
  if input then input:close() end
  for _, one in ipairs(self.outputs) do one:finish(REST) end
  local status = self.process.status
  local signal = status and CRASHES[status.signal] and status.signal
  if not signal or self.is_known or self.is_told or self.sent[signal] then return end
  local said = programs.said(self, died(self) or "")
  failure.fail(("%s: '%s' %s, a signal that the test has not sent%s"):format(self.place, self.name,
    programs.how(status), said == "" and "" or ". It wrote:\n" .. said), 0)
end

--- Both outputs of a program that was run to its end, as far as they were read.
function programs.wrote(result)
  local lines = {}
  for _, name in ipairs { "stdout", "stderr" } do
    if result[name] then
      lines[#lines + 1] = ("%s:\n%s"):format(name, output.tail { text = result[name] })
    end
  end
  return table.concat(lines, "\n")
end

--- How a program that was run to its end has ended: the whole command, and both outputs.
function programs.ran(command, result)
  local words = {}
  for place, word in ipairs(command) do words[place] = quoting.plain(tostring(word)) end
  return (("'%s' %s\n%s"):format(table.concat(words, " "), programs.how(result),
    programs.wrote(result)):gsub("\n$", ""))
end

--- A report has said how it ended, if it has.
function programs.note_told(self) self.is_told = self.process.status ~= nil end

--- From now on `said` can leave out what it has written until now.
function programs.mark(self)
  for _, one in ipairs(self.outputs) do one.marked = one.size end
end

--- Its end and its output, for the report of a failed test; of a program on a terminal, its screen.
-- @param reported what the report says already
-- @param is_new whether only what it wrote since `mark`, unless it has failed
function programs.said(self, reported, is_new)
  local status, texts = self.process.status, {}
  local is_part = is_new and not (status and status.code ~= 0)
  local shown = rawget(self, "screen")
  local how = died(self)
  if how and not reported:find(how, 1, true) then texts[1] = how end
  for _, one in ipairs(self.outputs) do
    local text = is_part and one.text:sub(one.marked + 1) or one.text
    if text ~= "" then
      local what = shown and ("screen of '%s'"):format(self.name) or one.what
      text = shown and screen.picture(shown) or output.tail { text = text }
      if not reported:find(text, 1, true) then texts[#texts + 1] = what .. ":\n" .. text end
    end
  end
  return table.concat(texts, "\n")
end

return programs
