-- What a test throws to fail or to be pending, and how any error becomes a problem, as data.
local diff = require "moonloop.testing.diff"
local values = require "moonloop.testing.values"
local given = require("moonloop.text.host").given
local parts = require "moonloop.text.values"
local quoting = require "moonloop.text.quoting"
local patterns = require "moonloop.text.patterns"

local failure = {
  WITHIN = 5,  -- seconds to wait for a pattern, unless the test sets another
}

local failed_meta = { __type = "failure" }
local pending_meta = { __type = "pending" }

local function text_of(value)
  if type(value) == "string" then return value end
  if type(value) ~= "table" and type(value) ~= "userdata" then return parts.tostring(value) end
  local meta = debug.getmetatable(value)
  if meta and meta.__tostring then return parts.tostring(value) end
  return values.format(value)
end

--- Any error value as text.
failure.text = text_of

failed_meta.__tostring = function(self) return text_of(self.message) end
pending_meta.__tostring = function(self) return text_of(self.message or "") end

--- "failure" for a failed assertion, "pending", or "error".
function failure.kind(value)
  local meta = debug.getmetatable(value)
  if meta == failed_meta then return "failure" end
  if meta == pending_meta then return "pending" end
  return "error"
end

--- The values that a failed assertion compared: expected and actual; nil if there are none.
function failure.compared(value)
  return failure.kind(value) == "failure" and value.comparison or nil
end

--- "file:line: " for a level of the caller's stack, as `error` puts it before a message.
local function position(level)
  local info = debug.getinfo(level + 1, "Sl")
  if not info or info.currentline < 0 then return "" end
  return ("%s:%d: "):format(info.short_src, info.currentline)
end

-- What some assertions expect: a value, or what kind of value, in words.
local EXPECTED = {
  ["true"] = { expected = true }, ["false"] = { expected = false }, ["nil"] = {},
  boolean = { kind = "a boolean" }, number = { kind = "a number" }, string = { kind = "a string" },
  table = { kind = "a table" }, userdata = { kind = "a userdata" },
  ["function"] = { kind = "a function" }, thread = { kind = "a thread" },
}

--- The values that an assertion compared, if luassert's engine calls `fail`. Its own argument list
--- is formatted by then, but the values are still in its `...`.
local function comparison(level)
  local info = debug.getinfo(level + 1, "S")
  if not info or not info.source:find("luassert", 1, true) then return nil end
  local name
  for index = 1, 50 do
    local variable, value = debug.getlocal(level + 1, index)
    if not variable then break end
    if variable == "assertion" and type(value) == "table" then name = value.name end
    -- Of what must not be equal there is no difference to show.
    if variable == "self" and type(value) == "table" and rawget(value, "mod") == false then
      return nil
    end
  end
  local has_expected, expected = debug.getlocal(level + 1, -1)
  local one = EXPECTED[name]
  if one then
    return has_expected and { expected = one.expected, kind = one.kind, actual = expected } or nil
  end
  if name ~= "same" and name ~= "equal" and name ~= "equals" then return nil end
  local has_actual, actual = debug.getlocal(level + 1, -2)
  if not has_expected or not has_actual then return nil end
  return { expected = expected, actual = actual }
end

--- Fails the running test. This is luassert's `error` and busted's `fail`.
-- @param compared two values whose difference to show: expected and actual
function failure.fail(message, level, compared)
  level = type(level) == "number" and level or 1
  compared = compared or comparison(2)
  if type(message) == "string" and level > 0 then message = position(level + 1) .. message end
  error(setmetatable({ message = message, comparison = compared }, failed_meta), 0)
end

--- Checks the arguments of a function that waits for a pattern; mistakes are errors at the line of
-- the test.
-- @param name the function, for messages
-- @return the seconds to wait
function failure.check_wait(name, pattern, within, is_plain)
  local mistake
  if type(pattern) ~= "string" then
    mistake = "the pattern must be a string, got " .. given(pattern)
  else
    mistake = not is_plain and patterns.mistake(pattern)
    if not mistake and (""):find(pattern, 1, is_plain) then
      mistake = ("'%s' matches nothing at all, which is there from the beginning"):format(
        quoting.line(pattern))
    end
  end
  if within ~= nil and (type(within) ~= "number" or not (within >= 0)) then
    mistake = mistake or "the time must be seconds, got " .. given(within)
  end
  if mistake then error(("%s: %s"):format(name, mistake), 3) end
  return within or failure.WITHIN
end

--- Advice for a pattern that did not match, if its text is there: "Name?" for example.
-- @param after what stands before the options, by default the time
function failure.advice(pattern, text, is_plain, after)
  if is_plain or not text:find(pattern, 1, true) then return "" end
  return ("; it matches as plain text: add { plain = true } after the %s"):format(after or "time")
end

--- Ends the running test as pending.
function failure.pending(message)
  error(setmetatable({ message = message }, pending_meta), 0)
end

--- A message of luassert without its text of the values that it compared: `compared` has them.
-- Words of the test in front of it may have such a text, too.
function failure.without_values(message)
  return message:match "^(.*Expected objects to be [^\n]*)\nPassed in:\n" or message
end

-- Lines shown of the beginning and the end of a long message.
local SHOWN_LINES = 15

--- A message, of which long lines and the middle are left out.
local function shortened(message)
  local lines = {}
  for line in (message .. "\n"):gmatch "(.-)\n" do lines[#lines + 1] = quoting.ends(line) end
  local more = #lines - 2 * SHOWN_LINES
  if more > 1 then
    local short = table.move(lines, 1, SHOWN_LINES, 1, {})
    short[SHOWN_LINES + 1] = ("... (%d lines left out)"):format(more)
    lines = table.move(lines, #lines - SHOWN_LINES + 1, #lines, SHOWN_LINES + 2, short)
  end
  return table.concat(lines, "\n")
end

--- A message without the place in brackets that stands before it.
local function without_place(message, where)
  local first, last = message:find((" (%s)"):format(where or ""), 1, true)
  return first and message:sub(1, first - 1) .. message:sub(last + 1) or message
end

local open_file <const> = io.open  -- specs may replace it

-- Bytes shown of a line of source.
local SOURCE_SHOWN = 120

--- The line of source at a place, with its number; nil if it cannot be read.
local function source_line(where)
  local path, number = (where or ""):match "^(.*):(%d+)$"
  local file = path and open_file(path, "r")
  if not file then return nil end
  local text
  for _ = 1, tonumber(number) do text = file:read "l" end
  file:close()
  text = text and text:match "^%s*(.-)%s*$"
  return text and text ~= "" and ("%s | %s"):format(number, quoting.cut(text, SOURCE_SHOWN, "…"))
    or nil
end

-- Frames of no use to readers: ours, luassert's, and C functions.
local hidden = {
  "^%s*%[C%]", "moonloop/testing%.[%w_.]*:", "moonloop/text%.[%w_.]*:", "luassert/[%w_/]+%.lua:",
}

local function is_hidden(line)
  for _, pattern in ipairs(hidden) do
    if line:find(pattern) then return true end
  end
  return false
end

--- A frame as a line of text; nil if it is of no use to readers.
local function frame_text(frame)
  if frame.role == "omission" then return ("... (%d levels left out)"):format(frame.line) end
  local place = ("%s:%d:"):format(frame.source, frame.line)
  if frame.line <= 0 or is_hidden(place) then return nil end
  if frame.role == "task" then
    return ("%s task %smade here"):format(place, frame.name and "'" .. frame.name .. "' " or "")
  end
  if frame.role == "main chunk" then return place .. " in main chunk" end
  local name = frame.name and "'" .. frame.name .. "'" or "<" .. frame.source .. ">"
  return ("%s in %s %s"):format(place, frame.role or "function", name)
end

--- The traceback of a result without the runner's frames, one frame per line.
local function trimmed(result)
  local kept = {}
  if result.frames then
    for _, frame in ipairs(result.frames) do kept[#kept + 1] = frame_text(frame) end
    return table.concat(kept, "\n")
  end
  for line in (result.traceback or ""):gmatch("[^\n]+") do
    local is_heading = line:find("stack traceback:", 1, true)
    if not is_heading and not is_hidden(line) then kept[#kept + 1] = line:gsub("^%s+", "") end
  end
  return table.concat(kept, "\n")
end

-- What reads the output of a program for a test.
local READER = "^task 'reader of .- of '.-'' "

--- What the tasks of a call wait for, a paragraph each, without those of the runner.
local function without_readers(text)
  local kept, is_reader = {}, false
  for line in text:gmatch("[^\n]+") do
    if not line:find "^%s" then is_reader = line:find(READER) ~= nil end
    if not is_reader then kept[#kept + 1] = line end
  end
  return table.concat(kept, "\n")
end

--- A text of several lines from the host, without useless frames.
local function without_hidden(text)
  local kept = {}
  for line in text:gmatch("[^\n]+") do
    if not is_hidden(line) then kept[#kept + 1] = line end
  end
  return table.concat(kept, "\n")
end

local function split_position(message)
  local where, rest = message:match("^([^\n:]+:%d+): (.*)$")
  if where then return where, rest end
  return nil, message
end

local headings = {
  timeout = "not done within %g s",
  deadlock = "waits for something that cannot happen",
  stopped = "interrupted",
  limit = "stopped by a limit of the program",
}

--- The problem to report for a call that did not end well.
--
-- @param result the result of `bed.call`
-- @param limit its time limit in seconds
-- @param name what was called, unless it is a test
-- @return a table with status, message, where, traceback, and comparison if values were compared:
-- both as text; source is the line that failed
function failure.problem(result, limit, name)
  local kind = result.status == "error" and failure.kind(result.value) or "error"
  local problem = { status = kind, traceback = trimmed(result) }
  local message
  if result.status ~= "error" then
    message = (headings[result.status] or result.status):format(limit)
    problem.kind = result.status
    if (result.waits or "") ~= "" then
      local waits = without_hidden(without_readers(result.waits))
      if name then waits = waits:gsub("^the test waits", function() return name .. " waits" end) end
      message = message .. "\n" .. waits
    elseif problem.traceback ~= "" then
      problem.is_busy = true
    end
  elseif kind == "error" then
    message = result.value == nil and "nil error" or text_of(result.value)
  else
    message = tostring(result.value)
    local compared = result.value.comparison
    if compared then
      problem.comparison = diff.texts(compared)
      -- The difference shows the values; luassert's own text of them is redundant then.
      message = failure.without_values(message)
    end
  end
  problem.where, problem.message = split_position(message)
  -- An assertion that was called wrongly raises at a line of its own.
  if problem.where and is_hidden(problem.where .. ":") then problem.where = nil end
  -- The innermost frame of the test itself is where to look.
  problem.where = problem.where or problem.traceback:match("^([^\n:]+:%d+):")
  if result.status == "error" then
    problem.message = shortened(without_place(problem.message, problem.where))
    problem.source = source_line(problem.where)
  end
  return problem
end

--- The problem for an error that nothing handled, of a handler or a task.
-- @param text the report that the program would have printed
function failure.reported(text)
  text = text:gsub("\nerror in __gc %((.-:%d+: .*)%)$", "\n%1")  -- as Lua warns of it
  local message = without_hidden(text):gsub("^moonloop: ", ""):gsub("\nstack traceback:$", "")
  return {
    status = "error", kind = "report", traceback = "", message = message,
    where = text:match("\n%s*([^%s][^\n:]*:%d+): "),
  }
end

--- Problems with the same message as one, which says how many more there are: children of a scope
--- often fail together.
function failure.merged(problems)
  local merged, counts = {}, {}
  for _, one in ipairs(problems) do
    local count = counts[one.message] or 0
    counts[one.message] = count + 1
    if count == 0 then merged[#merged + 1] = one end
  end
  for _, one in ipairs(merged) do
    local more = counts[one.message] - 1
    if more > 0 then one.message = ("%s\nand %d more like it"):format(one.message, more) end
  end
  return merged
end

return failure
