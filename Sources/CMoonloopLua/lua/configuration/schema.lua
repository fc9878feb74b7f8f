-- What a configuration may hold: the rules of each section, by field.
local rules = require "moonloop.configuration.rules"

local ACTIVITIES = {
  "entry", "before_timers", "before_sources", "before_waiting", "after_waiting", "exit",
}

-- What every item may have.
local function item(fields)
  fields.handler = fields.handler or rules.handler
  fields.modes = rules.modes
  fields.keep_alive = rules.flag
  fields.on_error = rules.handler
  return fields
end

local timer = rules.fields(item {
  every = rules.positive_seconds, first = rules.seconds, tolerance = rules.seconds,
}, { "handler" })

local function timers(report, path, value)
  if not timer(report, path, value) then return false end
  if value.every or value.first then return true end
  report(path, "needs 'every' or 'first', in seconds")
  return false
end

-- What the format knows and this release has not: said before anything starts.
local function missing(text)
  return function(report, path)
    report(path, text)
    return false
  end
end

local function argv(report, path, value)
  if not rules.table(report, path, value) then return false end
  if #value == 0 then
    report(path, "must be a list, the program and its arguments, got an empty table")
    return false
  end
  local good = true
  for place, one in ipairs(value) do
    good = rules.text(report, rules.join(path, place), one) and good
  end
  return good
end

-- "unix:app.sock", "tcp:127.0.0.1:8080", "tcp:8080", "tcp:[::1]:8080" as options of a listener.
local function to_address(text)
  local path = text:match "^unix:(.+)$"
  if path then return { path = path } end
  local rest = text:match "^tcp:(.+)$"
  if not rest then return nil end
  local host, port = rest:match "^%[([%x:.]+)%]:(%d+)$"
  if not host then host, port = rest:match "^([^:]+):(%d+)$" end
  if not host then port = rest:match "^(%d+)$" end
  port = math.tointeger(tonumber(port))
  if not port or port > 65535 then return nil end
  return { host = host or "127.0.0.1", port = port }
end

local function address(report, path, value)
  if type(value) == "string" and to_address(value) then return true end
  report(path, ("must be an address such as \"unix:app.sock\" or \"tcp:127.0.0.1:8080\", got %s")
    :format(rules.given(value)))
  return false
end

-- The rules of `ml.port.listen`.
local function port_name(report, path, value)
  if type(value) == "string" and #value <= 64 and value:find "^[%w_-][%w._-]*$" then return true end
  report(path, ("must be the name of a port, such as \"org.example.app\", got %s")
    :format(rules.given(value)))
  return false
end

-- The kinds of sources, by the field that says which one it is.
local SOURCES = {
  perform = { fields = item { perform = rules.handler, schedule = rules.handler,
    cancel = rules.handler, order = rules.whole } },
  fd = { fields = item { fd = rules.descriptor, read = rules.handler, write = rules.handler } },
  listen = { fields = item { listen = address, backlog = rules.count(1) }, handler = true },
  signal = { fields = item { signal = rules.names(rules.signal, "the name of a signal") },
    handler = true },
  watch = { fields = item { watch = rules.text, debounce = rules.seconds,
    recursive = rules.flag }, handler = true },
  process = { fields = item { process = argv, cwd = rules.text } },
  port = { fields = item { port = port_name, capacity = rules.count(1) }, handler = true },
}
local KINDS = rules.sorted_keys(SOURCES)
for _, kind in pairs(SOURCES) do
  kind.rule = rules.fields(kind.fields, kind.handler and { "handler" } or nil)
end
-- These say what is done by functions of their own names.
SOURCES.perform.fields.handler = nil
SOURCES.fd.fields.handler = nil

local function kind_of(value)
  local found
  for _, kind in ipairs(KINDS) do
    if value[kind] ~= nil then
      if found then return nil, found, kind end
      found = kind
    end
  end
  return found
end

local function source(report, path, value)
  if not rules.table(report, path, value) then return false end
  local kind, first, second = kind_of(value)
  if kind then
    if kind ~= "fd" or value.read or value.write then
      return SOURCES[kind].rule(report, path, value)
    end
    report(path, "needs a handler: 'read', 'write' or both")
    return false
  end
  if first then
    report(rules.join(path, second),
      ("is a source of another kind than '%s'; make two"):format(first))
    return false
  end
  for _, key in ipairs(rules.sorted_keys(value)) do
    if type(key) == "string" and not item {}[key] then
      report(rules.join(path, key),
        "unknown field" .. rules.suggestion(key, KINDS, "the kinds are"))
      return false
    end
  end
  report(path, "needs a field that says what it is: one of " .. table.concat(KINDS, ", "))
  return false
end

local observer = rules.fields(item {
  on = rules.names(rules.word(ACTIVITIES), "an activity"), order = rules.whole,
  repeats = rules.flag,
}, { "on", "handler" })

local SIGNAL_FIELDS = {
  stop = function(report, path, value)
    if value ~= false then return true end
    report(path, "must be true or a value for the one who ran the loop, got false")
    return false
  end,
  reload = function(report, path, value)
    if value == true then return true end
    report(path, "must be true, got " .. rules.given(value))
    return false
  end,
  handler = rules.handler, modes = rules.modes,
}
local signal_table = rules.fields(SIGNAL_FIELDS)

local function signal(report, path, value)
  if not rules.signal(report, path, path[#path]) then return false end
  if type(value) ~= "table" then return rules.handler(report, path, value) end
  if not signal_table(report, path, value) then return false end
  local count = 0
  for _ in pairs { value.stop, value.reload or nil, value.handler } do count = count + 1 end
  if count == 1 then return true end
  report(path, "needs one of 'stop', 'reload' and 'handler'")
  return false
end

local phase = rules.fields {
  mode = rules.mode, timeout = rules.seconds, until_handled = rules.flag,
}

local function phases(report, path, value)
  if not rules.table(report, path, value) then return false end
  local good = true
  for _, key in ipairs(rules.sorted_keys(value)) do
    if math.type(key) ~= "integer" then
      report(rules.join(path, key), "phases have no names: write run = { { mode = … }, … }")
      good = false
    elseif phase(report, rules.join(path, key), value[key]) and value[key].mode == "common" then
      report(rules.join(rules.join(path, key), "mode"),
        "'common' is a set of modes that items are scheduled in; run one mode of it")
      good = false
    end
  end
  return good
end

local function on_error(report, path, value)
  if value == "continue" or value == "stop" or type(value) == "function" then return true end
  if type(value) == "string" and value:find("%.") then return rules.handler(report, path, value) end
  return rules.word { "continue", "stop" }(report, path, value)
end

local SECTIONS = {
  name = rules.text,
  modes = rules.fields { common = rules.modes },
  limits = rules.fields {
    memory = rules.bytes, callout = rules.positive_seconds, handles = rules.count(1),
    nesting = rules.count(1, 60), instructions = rules.count(1000),
  },
  on_error = on_error,
  timers = rules.named(timers, "a timer"),
  sources = rules.named(source, "a source"),
  observers = rules.named(observer, "an observer"),
  signals = rules.named(signal, "a signal"),
  run = phases,
}

return {
  check = rules.fields(SECTIONS),
  sections = rules.sorted_keys(SECTIONS),
  kind_of = kind_of,
  to_address = to_address,
}
