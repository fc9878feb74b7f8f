-- One user of a console: each input is compiled and run as a task; the answer is text.
local ml = require "moonloop"
local breakpoint = require "moonloop.console.breakpoint"
local commands = require "moonloop.console.orders"
local host = require "moonloop.console.host"
local inspect = require "moonloop.inspect"
local loop = ml.current()

local Session = {}
Session.__index = Session

local session = {}

--- The modes in which consoles are served: the common modes, and the mode of breakpoints.
session.modes = { "common", "moonloop.debug" }

-- `io`, whose standard streams are the session's output.
local function io_to(output)
  local file = setmetatable({}, { __tostring = function() return "file (console)" end })
  function file:write(...)
    output(table.concat({ ... }))
    return self
  end
  function file:flush() return self end
  local own = { stdout = file, stderr = file }
  function own.write(...) return file:write(...) end
  return setmetatable(own, { __index = io, __newindex = io })
end

-- Names that every session has, before those of the program.
local function own_names(output)
  local own = { ml = ml, loop = loop }
  function own.help(...)
    own.print(require("moonloop.console.help").text(...))
  end
  own.print = print
  if output then
    function own.print(...)
      local parts = table.pack(...)
      for place = 1, parts.n do parts[place] = tostring(parts[place]) end
      output(table.concat(parts, "\t") .. "\n")
    end
    own.io = io_to(output)
  end
  return own
end

-- As in a main chunk, for metatables of `_G` that ask who it is.
local global = load("local name = ... return _G[name]", "=console")
local set_global = load("local name, value = ... _G[name] = value", "=console")

-- Names are looked up in the stopped function, at a breakpoint; then in the session; then in the
-- globals.
local function environment_of(own)
  local meta = { names = function() return breakpoint.names(own) end }
  function meta.__index(_, key)
    local found, value = breakpoint.get(key)
    if found then return value end
    value = own[key]
    if value == nil then value = global(key) end
    return value
  end
  function meta.__newindex(_, key, value)
    if breakpoint.set(key, value) then return end
    if own[key] ~= nil then own[key] = value else set_global(key, value) end
  end
  return setmetatable({}, meta)
end

--- Makes a session.
--- @param output fun(text: string) Where `print` in the session goes; nil: standard output.
function session.new(output)
  local own = own_names(output)
  return setmetatable({ own = own, environment = environment_of(own) }, Session)
end

--- Makes a session that is notified of breakpoints: `terminal:stopped(text)`,
--- `terminal:continued()`.
function session.add(own, terminal) breakpoint.consoles[own] = terminal end

--- Ends the session.
function session.remove(own)
  own:cancel()
  breakpoint.consoles[own] = nil
  breakpoint.lost_console()
end

--- Compiles the input, an expression or statements.
--- Returns the function; or nil, the message, and whether only the end is missing.
function session.compile(text, environment)
  local order = text:match "^%s*:(.*)"
  if order then return function() return commands.run(order, environment) end end
  local value = "return " .. text:gsub("^%s*=", "")
  local made, value_failure = load(value, "=console", "t", environment)
  if made then return made end
  local failure
  made, failure = load(text, "=console", "t", environment)
  if made then return made end
  local function lacks_end(message) return message:find("near <eof>", 1, true) ~= nil end
  -- "1 +" is the beginning of a value, and of no statement.
  if lacks_end(value_failure) and not lacks_end(failure) then failure = value_failure end
  return nil, failure, lacks_end(failure)
end

-- Leave out the console's own calls.
local function own_calls_cut(text)
  local cut = text:find("\n\t%[C%]: in function 'xpcall'")
  return cut and text:sub(1, cut - 1) or text
end

local function failed(reason)
  if reason == "interrupted" then return { failure = reason } end
  if getmetatable(reason) == commands.Refusal then return { failure = reason.message } end
  local what = type(reason) == "string" and reason or inspect(reason)
  return { failure = own_calls_cut(debug.traceback(what, 2)), reason = reason }
end

-- Explains why there is no answer: what waits at a breakpoint waits until it is over.
function Session:warn(task)
  local depth = breakpoint.depth()
  loop:task({ owner = "none", name = "console", modes = session.modes }, function()
    ml.sleep(0)
    ml.sleep(0)
    local is_busy = breakpoint.busy and breakpoint.busy.is_console
    if task:is_done() or is_busy or self.task ~= task or breakpoint.depth() ~= depth then return end
    self.own.print(
      "(it waits, but the clock is stopped: only the console is served; Ctrl-C cancels)")
  end)
end

-- Packed values as text.
local function text_of(values)
  local parts = {}
  for place = 1, values.n do parts[place] = inspect(values[place]) end
  return table.concat(parts, "\t")
end

--- Runs the input in the calling task: it may wait. Returns a table: `count`, of the values, and
--- what `form` makes of them, `shown`; or `failure`, a text; with `incomplete` if more input is
--- needed.
--- @param form fun(values: table): any  Of the packed values, as a part of the input; nil: a text.
function Session:evaluate(text, form)
  local made, message, is_incomplete = session.compile(text, self.environment)
  if not made then return { failure = message, incomplete = is_incomplete } end
  local before = self.task
  local task = loop:task({ owner = "none", name = "console", modes = session.modes }, function()
    local results = table.pack(xpcall(made, failed))
    if not results[1] then return results end
    if results.n > 1 then self.own._ = results[2] end
    local values = table.pack(table.unpack(results, 2, results.n))
    local ok, shown = xpcall(form or text_of, failed, values)
    return { ok, shown, count = values.n }
  end)
  self.task = task
  if breakpoint.is_stopped() then self:warn(task) end
  local results = table.pack(pcall(task.await, task))
  self.task = before
  if not results[1] then return { failure = tostring(results[2]) } end
  results = results[2]
  if results[1] then return { count = results.count, shown = results[2] } end
  -- Lua calls no message handler where memory has run out.
  return type(results[2]) == "table" and results[2] or { failure = tostring(results[2]) }
end

--- Cancels the evaluation: a waiting one is cancelled, a busy one is stopped. Without an
--- evaluation, a busy call-out of the program stops as at a breakpoint.
function Session:interrupt()
  local busy = breakpoint.busy
  if self.task then self.task:cancel "interrupted" end
  if busy and busy.is_console then
    host.stop_busy()
  elseif busy and not self.task then
    loop:task({ owner = "none", name = "console", modes = session.modes }, breakpoint.stop_here)
  end
end

--- Ends the session, and its evaluation, which may be waiting or busy.
function Session:cancel()
  if not self.task then return end
  if breakpoint.busy and self.task.status == "running" then host.stop_busy() end
  self.task:cancel "interrupted"
end

return session
