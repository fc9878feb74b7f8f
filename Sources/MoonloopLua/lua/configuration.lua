-- Configurations of a loop: tables of modes, timers, sources, observers, signals and phases,
-- checked as a whole before anything starts (D40, D41).
local evaluation = require "moonloop.configuration.evaluation"
local positions = require "moonloop.configuration.positions"
local rules = require "moonloop.configuration.rules"
local schema = require "moonloop.configuration.schema"
local items = require "moonloop.configuration.items"
local quoting = require "moonloop.text.quoting"
local spelling = require "moonloop.text.spelling"

local configuration = {}

-- A document: { value, name, node, folder }, where `node` knows the lines of its fields.
function configuration.document(value, name, text)
  return {
    value = value,
    name = name,
    node = text and positions.of(text) or { line = 0, fields = {} },
    folder = name:match "^(.*)/[^/]*$" or ".",
  }
end

-- Evaluates the text of a file. Returns a document; or nil and a message, with the line.
local function evaluated(text, path)
  local chunk, mistake = load((text:gsub("^#[^\n]*", "")), "@" .. path, "t")
  if not chunk then return nil, mistake end
  local ok, values = evaluation.run(chunk, path)
  if not ok then return nil, values end
  local doc = configuration.document(values[1], path, text)
  if type(values[1]) ~= "table" or values.n > 1 then
    return nil, ("%s:%d: must return a table, the configuration; it returned %s"):format(path,
      doc.node.line, values.n > 1 and values.n .. " values" or rules.given(values[1]))
  end
  return doc
end

-- The text of a file; or nil and a message.
function configuration.text(path)
  local file, message = io.open(path, "rb")
  if not file then return nil, message end
  local text, failure = file:read "a"
  file:close()
  if not text then return nil, ("%s: %s"):format(path, failure) end
  return text
end

-- Reads and evaluates a file. Returns a document; or nil and a message, with the line.
function configuration.read(path)
  local text, message = configuration.text(path)
  if not text then return nil, message end
  return evaluated(text, path)
end

-- The keys that lead to a field as one reads them: timers.heartbeat.every, run[2].mode.
function configuration.path_text(path)
  local text = ""
  for _, key in ipairs(path) do
    if type(key) == "string" and #key <= 40 and key:find "^[%a_][%w_]*$" then
      text = text == "" and key or text .. "." .. key
    else
      text = ("%s[%s]"):format(text, type(key) == "string" and quoting.quoted(key, 40)
        or rules.given(key))
    end
  end
  return text
end

-- Fields that are written twice: Lua would take the last, and say nothing.
local function check_repeated(report, path, node)
  for _, one in ipairs(node.again or {}) do
    report(rules.join(path, one.key), ("is written twice, first in line %d"):format(one.line))
  end
  for _, key in ipairs(rules.sorted_keys(node.fields)) do
    check_repeated(report, rules.join(path, key), node.fields[key])
  end
end

-- All mistakes of a document, in the order of its lines: { line, path, problem, text } each. The
-- modules of its handlers are loaded, unless it is told otherwise.
function configuration.mistakes(doc, loads_nothing)
  local found = {}
  local function report(path, problem)
    local line = positions.line(doc.node, path)
    local where = configuration.path_text(path)
    found[#found + 1] = {
      line = line, path = where, problem = problem, order = #found,
      text = ("%s:%s %s%s"):format(doc.name, line > 0 and line .. ":" or "",
        where == "" and "" or where .. ": ", problem),
    }
  end
  schema.check(report, {}, doc.value)
  check_repeated(report, {}, doc.node)
  if not loads_nothing and getmetatable(doc.value) == nil then items.check_handlers(doc, report) end
  table.sort(found, function(a, b)
    if a.line ~= b.line then return a.line < b.line end
    return a.order < b.order
  end)
  return found
end

-- Whether a value that a chunk returned is meant as a configuration: it has one of its sections, or
-- a table by nearly such a name and nothing else.
function configuration.is_one(value)
  if type(value) ~= "table" then return false end
  for _, section in ipairs(schema.sections) do
    if rawget(value, section) ~= nil then return true end
  end
  local is_near = next(value) ~= nil
  for key, one in next, value do
    is_near = is_near and type(one) == "table" and type(key) == "string"
      and spelling.hint(key, schema.sections):find "did you mean" ~= nil
  end
  return is_near
end

-- Mistakes as one text.
function configuration.in_words(doc, found)
  local lines = {}
  for _, mistake in ipairs(found) do lines[#lines + 1] = mistake.text end
  if #found > 1 then lines[#lines + 1] = ("%d mistakes in %s"):format(#found, doc.name) end
  return table.concat(lines, "\n")
end

-- Makes all that a configuration tells of. Raises an error that lists all mistakes; then nothing
-- was made. What cannot be opened is an error too, and what was made before is ended.
-- Returns what runs: its handles by section and name, `run`, and `close`.
function configuration.configure(what)
  local doc
  if type(what) == "table" then
    doc = configuration.document(what, "configuration")
  elseif type(what) == "string" then
    local message
    doc, message = configuration.read(what)
    if not doc then error(message, 0) end
  else
    error("configure: takes the path of a file or a table, got " .. rules.given(what), 2)
  end
  local found = configuration.mistakes(doc)
  if #found > 0 then error(configuration.in_words(doc, found), 0) end
  return items.make(doc)
end

-- What the command line says of the configuration that the program runs: `mode` and `timeout` of
-- its run; and, each as true, limits and `on_error` that are not the configuration's to set.
configuration.bounds, configuration.given = {}, {}

-- What the program does with a file that returned a configuration, as its text was then. Returns
-- what runs; or nil and all mistakes in words. The text is evaluated once more: as it ran, nobody
-- looked at its effects.
function configuration.prepare(value, path, text)
  local again, problem = evaluated(text, path)
  if not again then return nil, problem end
  local doc = configuration.document(value, path, text)
  local found = configuration.mistakes(doc)
  if #found > 0 then return nil, configuration.in_words(doc, found) end
  local ok, running = pcall(items.make, doc, { given = configuration.given })
  if not ok then return nil, tostring(running) end
  return running
end

return configuration
