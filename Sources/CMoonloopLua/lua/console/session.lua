-- One user of a console: what is typed is compiled and run as a task, and the answer is text.
local ml = require "moonloop"
local show = require "moonloop.console.show"
local loop = ml.current()

local Session = {}
Session.__index = Session

local session = {}

--- Where consoles are served: wherever the loop runs in a common mode, and at a breakpoint.
session.modes = { "common", "moonloop.debug" }

--- Makes a session.
--- @param output fun(text: string) Where `print` of what is typed goes; nil: standard output.
function session.new(output)
  local own = { ml = ml, loop = loop }
  if output then
    own.print = function(...)
      local parts = table.pack(...)
      for place = 1, parts.n do parts[place] = tostring(parts[place]) end
      output(table.concat(parts, "\t") .. "\n")
    end
  end
  local made = setmetatable({ output = output, own = own }, Session)
  made.environment = setmetatable({}, {
    __index = function(_, key)
      local value = own[key]
      if value == nil then return _G[key] end
      return value
    end,
    __newindex = function(_, key, value)
      if own[key] ~= nil then own[key] = value else _G[key] = value end
    end,
  })
  return made
end

--- Compiles what was typed, an expression or statements.
--- Returns the function; or nil, what is wrong, and whether only the end is missing.
function Session:compile(text)
  local environment = self.environment
  local made = load("return " .. text, "=console", "t", environment)
  if made then return made end
  local failure
  made, failure = load(text, "=console", "t", environment)
  if made then return made end
  return nil, failure, failure:find("<eof>", 1, true) ~= nil
end

-- The calls of the console itself are of no use to anybody.
local function own_calls_only(text)
  local cut = text:find("\n\t%[C%]: in function 'xpcall'")
  return cut and text:sub(1, cut - 1) or text
end

local function failed(reason)
  local what = type(reason) == "string" and reason or show.value(reason)
  return { failure = own_calls_only(debug.traceback(what, 2)), reason = reason }
end

--- Runs what was typed, in the calling task: it may wait. Returns a table: `values`, packed; or
--- `failure`, a text; with `incomplete` if more is to be typed.
function Session:evaluate(text)
  local made, message, is_incomplete = self:compile(text)
  if not made then return { failure = message, incomplete = is_incomplete } end
  self.task = loop:task({ owner = "none", name = "console", modes = session.modes }, function()
    return table.pack(xpcall(made, failed))
  end)
  local results = table.pack(pcall(self.task.await, self.task))
  self.task = nil
  if not results[1] then return { failure = tostring(results[2]) } end
  results = results[2]
  if not results[1] then return results[2] end
  self.own._ = results[2]
  return { values = table.pack(table.unpack(results, 2, results.n)) }
end

--- Gives up what is evaluated, if it waits.
function Session:interrupt()
  if self.task then self.task:cancel "interrupted" end
end

--- Values, packed, as text.
function Session:text(values)
  local parts = {}
  for place = 1, values.n do parts[place] = show.value(values[place]) end
  return table.concat(parts, "\t")
end

return session
