-- Configurations of a loop: tables of modes, timers, sources, observers, signals and phases. All of
-- it is checked before anything starts (D40, D41).
local evaluation = require "moonloop.configuration.evaluation"
local lists = require "moonloop.text.lists"
local positions = require "moonloop.configuration.positions"
local rules = require "moonloop.configuration.rules"
local schema = require "moonloop.configuration.schema"
local items = require "moonloop.configuration.items"
local quoting = require "moonloop.text.quoting"
local spelling = require "moonloop.text.spelling"
local host = require "moonloop.text.host"
local site = require "moonloop.text.site"

local configuration = { sections = schema.sections }

-- A document: { value, name, node, folder }. `node` knows the lines of the fields.
function configuration.document(value, name, text)
  return {
    value = value,
    name = name,
    node = text and positions.of(text) or { line = 0, fields = {} },
    folder = name:match "^(.*)/[^/]*$" or ".",
  }
end

-- Evaluates the text of a file. Returns a document; or nil and a message with the line.
local function evaluated(text, path)
  local chunk, mistake = load((text:gsub("^#[^\n]*", "")), "@" .. path, "t")
  if not chunk then return nil, mistake end
  local ok, values = evaluation.run(chunk, path)
  local doc = configuration.document(ok and values[1], path, text)
  if not ok then
    return nil, doc.node.is_missing
      and ("%s is not a configuration: it does not end with 'return { … }'\n%s")
        :format(path, values) or values
  end
  if type(values[1]) ~= "table" or values.n > 1 then
    return nil, ("%s:%d: must return a table (the configuration), got %s"):format(path,
      doc.node.line, values.n > 1 and values.n .. " values" or rules.given(values[1]))
  end
  return doc
end

-- The largest file that is read: `/dev/zero` has no end.
local FILE_LIMIT <const> = 64 << 20

-- The text of a file; or nil and a message.
function configuration.text(path, limit)
  local file <close>, message = io.open(path, "rb")
  if not file then return nil, message end
  local parts, left = {}, limit or FILE_LIMIT
  while true do
    local part, failure = file:read(1 << 20)
    if failure then return nil, ("%s: %s"):format(path, failure) end
    if not part then return table.concat(parts) end
    left = left - #part
    if left < 0 then return nil, path .. ": File too large" end
    parts[#parts + 1] = part
  end
end

local own_path, own_cpath

--- Gives a file that a command reads what it has under `moonloop run`: `arg`, and the modules
--- beside it.
function configuration.set_arguments(path)
  arg = { [-1] = arg and arg[-1], [0] = path }
  local folder = path:match "^(.*)/" or "."
  if folder:find "[;?]" then folder = "." end
  own_path, own_cpath = own_path or package.path, own_cpath or package.cpath
  package.path = ("%s/?.lua;%s/?/init.lua;%s"):format(folder, folder, own_path)
  package.cpath = ("%s/?.so;%s"):format(folder, own_cpath)
end

-- Reads and evaluates a file. Returns a document; or nil and a message with the line.
function configuration.read(path)
  local text, message = configuration.text(path)
  if not text then return nil, message end
  return evaluated(text, path)
end

-- The path of a field in readable form: timers.heartbeat.every, run[2].mode.
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

-- Fields that appear twice: Lua would silently use the last.
local function check_repeated(report, path, node)
  if not node.repeats then return end
  for _, one in ipairs(node.again or {}) do
    report(rules.join(path, one.key), ("appears twice, first in line %d"):format(one.line))
  end
  for _, key in ipairs(rules.sorted_keys(node.fields)) do
    check_repeated(report, rules.join(path, key), node.fields[key])
  end
end

-- All mistakes of a document in line order: { line, path, problem, text } each. Loads the modules
-- of its handlers, unless `options` say otherwise.
function configuration.mistakes(doc, loads_nothing)
  local found = {}
  local function report(path, problem)
    local line, is_elsewhere = positions.line(doc.node, path)
    local where = configuration.path_text(path)
    if is_elsewhere then problem = problem .. " (in what this line computes)" end
    found[#found + 1] = {
      line = line, path = where, problem = problem, order = #found,
      text = ("%s:%s %s%s"):format(doc.name, line > 0 and line .. ":" or "",
        where == "" and "" or where .. ": ", problem),
    }
  end
  schema.check(report, {}, doc.value)
  check_repeated(report, {}, doc.node)
  if not loads_nothing and getmetatable(doc.value) == nil then items.check_handlers(doc, report) end
  table.sort(found, lists.by("line", "order"))
  return found
end

local function is_misspelt(key)
  return type(key) == "string" and spelling.nearest(key, schema.sections) ~= nil
end

-- Whether a returned value is meant as a configuration: it has one of its sections, or only a
-- misspelt one that holds a table.
function configuration.is_one(value)
  if type(value) ~= "table" then return false end
  for _, section in ipairs(schema.sections) do
    if rawget(value, section) ~= nil then return true end
    -- A section that is inherited, which a configuration may not.
    local ok, found = pcall(function() return value[section] end)
    if ok and type(found) == "table" then return true end
  end
  local is_near = next(value) ~= nil
  for key, one in next, value do
    is_near = is_near and type(one) == "table" and is_misspelt(key)
  end
  return is_near
end

-- Whether what a file's text returns is meant as a configuration, and not as a module, which has
-- functions; or nil, what is wrong, and whether that is an effect that no configuration may have.
function configuration.returns_one(text, path)
  local chunk = load((text:gsub("^#[^\n]*", "")), "@" .. path, "t")
  local ok, values, is_refused = evaluation.run(chunk, path, true)
  if not ok then return nil, values, is_refused end
  local value = values[1]
  if not configuration.is_one(value) or getmetatable(value) then return false end
  for key, one in next, value do
    if type(one) == "function" and not schema.rules[key] then return false end
  end
  return true
end

-- What a file's text shows of the table that it returns: "configuration"; "data" for another table
-- of constants; nil for a script or a module.
function configuration.written_as(text)
  local fields = positions.of(text).fields
  local is_data, is_near, has_section = next(fields) ~= nil, true, false
  for key, field in next, fields do
    local is_section = type(key) == "string" and schema.rules[key]
    if is_section and next(field.fields) then return "configuration" end
    is_data = is_data and not field.is_computed
    is_near = is_near and (is_section or is_misspelt(key) and field.is_table)
    has_section = has_section or is_section
  end
  return is_data and (has_section or is_near) and "configuration" or is_data and "data" or nil
end

-- Mistakes as one text.
function configuration.in_words(doc, found)
  local lines = {}
  for _, mistake in ipairs(found) do lines[#lines + 1] = mistake.text end
  if #found > 1 then lines[#lines + 1] = ("%d mistakes in %s"):format(#found, doc.name) end
  return table.concat(lines, "\n")
end

-- Makes what a configuration describes. Raises an error that lists all mistakes before anything is
-- made. Failing to open something is an error too, and ends what was made before. Returns what
-- runs: its handles by section and name, `run`, and `close`.
function configuration.configure(what)
  local doc
  if type(what) == "table" then
    doc = configuration.document(what, site() or "configuration")
    doc.folder = "."
  elseif type(what) == "string" then
    if what:find "%z" then
      host.mistake "ml.configure: the path must not contain a zero byte"
    end
    local text, message = configuration.text(what)
    if not text then host.mistake("ml.configure: cannot read " .. message) end
    doc, message = evaluated(text, what)
    if not doc then error(message, 0) end
  else
    host.mistake("ml.configure: takes the path of a file or a table, got " .. rules.given(what))
  end
  local found = configuration.mistakes(doc)
  if #found > 0 then error(configuration.in_words(doc, found), 0) end
  return items.make(doc)
end

-- What the command line overrides: `mode` and `timeout` of the run; and, each as true, the limits
-- and `on_error` that the configuration must not set.
configuration.bounds, configuration.given = {}, {}

-- Runs a file that returned a configuration, from the text it had then. Returns what runs; or nil
-- and all mistakes as text. The text is evaluated a second time, to check that it has no effects.
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
