-- The sections of a configuration and their rules, by field.
local parse_schedule = require "moonloop.cron.schedule"
local rules = require "moonloop.configuration.rules"
local sources = require "moonloop.configuration.sources"
local spelling = require "moonloop.text.spelling"
local zones = require "moonloop.cron.zone"

local ACTIVITIES = {
  "entry", "before_timers", "before_sources", "before_waiting", "after_waiting", "exit",
}

-- Fields that every item can have.
local function item(fields)
  fields.handler = fields.handler or rules.handler
  fields.modes = rules.modes
  fields.keep_alive = rules.flag
  fields.on_error = rules.handler
  return fields
end

-- A rule by a function that returns nil and a message for what it cannot read.
local function readable(read)
  return function(report, path, value)
    local found, problem = read(value)
    if not found then report(path, problem) end
    return found ~= nil
  end
end

local timer = rules.fields(item {
  every = rules.positive_seconds, first = rules.any_seconds, tolerance = rules.seconds,
  at = rules.any_seconds, cron = readable(parse_schedule), zone = readable(zones.named),
}, { "handler" })

-- What says when a timer fires; fields of one line go together.
local WHEN = { "every", "at", "cron" }

local function timers(report, path, value)
  if not timer(report, path, value) then return false end
  local found = value.first and not value.every and "first" or nil
  for _, name in ipairs(WHEN) do
    if value[name] and found then
      report(path, ("cannot have both '%s' and '%s'"):format(found, name))
      return false
    end
    found = value[name] and name or found
  end
  local is_misplaced = value.zone and found ~= "cron"
  if is_misplaced then
    report(path, "has 'zone', which belongs to 'cron'")
  elseif not found then
    report(path, "needs 'every' or 'first', in seconds, 'at' or 'cron'")
  end
  return found and not is_misplaced
end

-- The rule of a whole source, by kind.
local SOURCES = {}
for name, kind in pairs(sources.kinds) do
  local fields = item {}
  if not kind.handler then fields.handler = nil end
  for key, rule in pairs(kind.fields) do fields[key] = rule end
  SOURCES[name] = rules.fields(fields, kind.handler == "needed" and { "handler" } or nil)
end

local function source(report, path, value)
  if not rules.table(report, path, value) then return false end
  local kind, first, second = sources.kind_of(value)
  if kind then
    if kind ~= "fd" or value.read or value.write then
      return SOURCES[kind](report, path, value)
    end
    report(path, "needs a handler: 'read', 'write' or both")
    return false
  end
  if first then
    report(rules.join(path, second),
      ("is a different kind of source than '%s'; make two sources"):format(first))
    return false
  end
  for _, key in ipairs(rules.sorted_keys(value)) do
    if type(key) == "string" and not item {}[key] then
      report(rules.join(path, key),
        "unknown field" .. spelling.hint(key, sources.names, "the kinds are"))
      return false
    end
  end
  report(path, "needs a field for its kind: one of " .. table.concat(sources.names, ", "))
  return false
end

local observer = rules.fields(item {
  on = rules.names(rules.word(ACTIVITIES), "an activity"), order = rules.whole,
  repeats = rules.flag,
}, { "on", "handler" })

local SIGNAL_FIELDS = {
  stop = function(report, path, value)
    if value ~= false then return true end
    report(path, "must be true or a value to return from the run, got false")
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
  report(path, count == 0 and "needs one of 'stop', 'reload' and 'handler'"
    or "can have only one of 'stop', 'reload' and 'handler'")
  return false
end

local phase = rules.fields {
  mode = rules.mode, timeout = rules.seconds, until_handled = rules.flag,
}

local function runnable_phase(report, path, value)
  if not phase(report, path, value) then return false end
  if value.mode ~= "common" then return true end
  report(rules.join(path, "mode"),
    "'common' is a set of modes; run one of them")
  return false
end

local function phases(report, path, value)
  if not rules.table(report, path, value) then return false end
  if next(value) == nil then
    report(path, "has no phase; write { { mode = \"default\" } }, or leave 'run' out")
    return false
  end
  local listed, named = {}, {}
  for _, key in ipairs(rules.sorted_keys(value)) do
    if math.type(key) == "integer" then listed[key] = value[key] else named[#named + 1] = key end
  end
  local good = rules.list(runnable_phase)(report, path, listed)
  for _, key in ipairs(named) do
    report(rules.join(path, key), "phases have no names: write run = { { mode = … }, … }")
  end
  return good and #named == 0
end

local function on_error(report, path, value)
  if value == "continue" or value == "stop" or type(value) == "function" then return true end
  if type(value) == "string" and value:find("%.") then return rules.handler(report, path, value) end
  return rules.word { "continue", "stop" }(report, path, value)
end

local function common_mode(report, path, value)
  if not rules.mode(report, path, value) then return false end
  if value ~= "common" then return true end
  report(path, "'common' is the set itself; name the modes in it")
  return false
end

-- Each signal once: "term", "SIGTERM" and "sigterm" are the same.
local function signals(report, path, value)
  local good, known = rules.named(signal, "a signal")(report, path, value), {}
  if type(value) ~= "table" or getmetatable(value) ~= nil then return false end
  for _, name in ipairs(rules.sorted_keys(value)) do
    local word = type(name) == "string" and name:lower():gsub("^sig", "")
    if word and known[word] then
      good = false
      report(rules.join(path, name), ("is the same signal as '%s'"):format(known[word]))
    end
    if word then known[word] = name end
  end
  return good
end

local SECTIONS = {
  modes = rules.fields { common = rules.names(common_mode, "the name of a mode") },
  limits = rules.fields {
    memory = rules.bytes, callout = rules.positive_seconds, handles = rules.count(1),
    nesting = rules.count(1, 60), instructions = rules.count(1000, 0x7fffffff),
  },
  on_error = on_error,
  timers = rules.named(timers, "a timer"),
  sources = rules.named(source, "a source"),
  observers = rules.named(observer, "an observer"),
  signals = signals,
  run = phases,
}

return {
  check = rules.fields(SECTIONS),
  sections = rules.sorted_keys(SECTIONS),
  rules = SECTIONS,
  --- How often a timer with a schedule fires in an hour, on average.
  per_hour = function(cron) return parse_schedule(cron):per_hour() end,
}
