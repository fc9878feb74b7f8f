-- ml.log: records with a level and fields, as text or JSON, that never keep the loop waiting: what
-- is not taken at once waits in a bounded buffer (CLinuxShims/log.c), and what has no room there is
-- dropped and counted.
local ml = require "moonloop"
local check = require "moonloop.text.options"
local lines = require "moonloop.log.lines"
local spelling = require "moonloop.text.spelling"
local unheld = require "moonloop.unheld"
-- A script that was not granted everything writes where its `print` writes.
local has_sinks, sinks = pcall(require, "moonloop.sink")
local count = not has_sinks and require "moonloop.log.count"
local print, errors = print, io and io.stderr

local LEVELS = { debug = 1, info = 2, warn = 3, error = 4 }
local NAMES = { "debug", "info", "warn", "error" }
local OPTIONS = { level = "string", format = "string", to = "any", fields = "table",
  rate = "integer" }
local FORMATS = { "text", "json", "journal" }
-- Limit for the messages whose rate is watched at a time.
local WATCHED_LIMIT = 1000
-- Seconds until a full descriptor is tried again.
local AGAIN = 0.02

-- The state of each logger, where no script reaches it.
local states = setmetatable({}, { __mode = "k" })
local methods = {}
local meta = { __name = "log", __metatable = "log" }

-- Where lines go ------------------------------------------------------------------------------

-- Tries again as long as something waits; that keeps no run alive, since the end writes it out.
local function drain_later(outlet)
  if outlet.timer then return end
  outlet.timer = ml.current():timer { every = AGAIN, keep_alive = false, modes = "common",
    name = "log", function(timer)
      if sinks.drain(outlet.sink) > 0 then return end
      timer:invalidate()
      outlet.timer = nil
      if not outlet.is_closed then return end
      sinks.close(outlet.sink)
      outlet.sink = nil
    end }
end

-- A full disk is reported once; what waits is written when there is room again.
local function report_problem(outlet)
  local problem = sinks.problem(outlet.sink)
  if problem and not outlet.is_reported and outlet.name ~= "stderr" and errors then
    errors:write(("moonloop: log '%s': %s; records are kept until there is room\n"):format(
      outlet.name, problem))
  end
  outlet.is_reported = problem ~= nil
end

-- Both or neither is taken: a short notice must not fill the room that no record fits into.
local function write_to_sink(outlet, line, notice)
  local is_taken = sinks.write(outlet.sink, (notice and notice .. "\n" or "") .. line .. "\n")
  if sinks.drain(outlet.sink) > 0 then drain_later(outlet) end
  report_problem(outlet)
  return is_taken
end

-- The outlet of an option 'to'; or nil and what is wrong, with a code if it is the system's.
local function open(to)
  if type(to) == "function" then
    return { write = function(_, line) to(line) return true end }
  elseif type(to) ~= "string" then
    return nil, "'to' must be \"stderr\", \"stdout\", a path or a function"
  elseif not has_sinks then
    if to == "stderr" or to == "stdout" then
      return { write = function(_, line) print(line) return true end }
    end
    return nil, "only a script with all grants may write logs to files"
  end
  local fd = to == "stdout" and 1 or to == "stderr" and 2
  local sink, problem, code = sinks.open(fd or to)
  if not sink then return nil, ("'%s': %s"):format(to, problem), code end
  local outlet = setmetatable({ sink = sink, name = to, write = write_to_sink }, {
    __gc = function(outlet) if outlet.sink then sinks.close(outlet.sink) end end,
  })
  if not fd then unheld.add(outlet, "log", to) end
  return outlet
end

-- Records -------------------------------------------------------------------------------------

-- Whether a message has been logged too often in this second; else how often it was held back.
local function is_too_often(self, message)
  local now, shared = ml.now(), self.shared
  local one = shared.watched[message]
  if not one then
    if shared.count >= WATCHED_LIMIT then shared.watched, shared.count = {}, 0 end
    one = { since = now, logged = 0, held = 0 }
    shared.watched[message], shared.count = one, shared.count + 1
  end
  if now - one.since >= 1 then one.since, one.logged = now, 0 end
  one.logged = one.logged + 1
  if one.logged > self.rate then
    one.held, shared.suppressed = one.held + 1, shared.suppressed + 1
    return true
  end
  local held = one.held
  one.held = 0
  return false, held > 0 and held or nil
end

local function log(self, level, message, fields)
  local shared, all, held = self.shared, {}, nil
  if self.rate then
    local is_held
    is_held, held = is_too_often(self, message)
    if is_held then return end
  end
  for name, value in pairs(self.fields) do all[name] = value end
  for name, value in pairs(fields or {}) do all[name] = value end
  if held then lines.claim(all, "suppressed", held) end
  local notice = shared.missing > 0
    and lines.make(self.form, "warn", "records were dropped", { dropped = shared.missing }) or nil
  if count then count.line() end
  if shared.outlet:write(lines.make(self.form, level, message, all), notice) then
    shared.missing = 0
  else
    shared.dropped, shared.missing = shared.dropped + 1, shared.missing + 1
  end
end

for level, rank in pairs(LEVELS) do
  methods[level] = function(handle, message, fields)
    local self = states[handle]
    if not self then error(("log:%s: must be called with a colon"):format(level), 2) end
    if type(message) ~= "string" then
      error(("log:%s: the message must be a string, got a %s"):format(level, type(message)), 2)
    elseif fields ~= nil and type(fields) ~= "table" then
      error(("log:%s: the fields must be a table, got a %s"):format(level, type(fields)), 2)
    end
    if rank >= self.rank then log(self, level, message, fields) end
  end
end

local function make(state)
  local handle = setmetatable({}, meta)
  states[handle] = state
  return handle
end

function methods:with(fields)
  if type(fields) ~= "table" then error("log:with: takes a table of fields", 2) end
  local state = {}
  for name, value in pairs(states[self]) do state[name] = value end
  state.fields = {}
  for name, value in pairs(states[self].fields) do state.fields[name] = value end
  for name, value in pairs(fields) do state.fields[name] = value end
  return make(state)
end

function methods:flush(options)
  local timeout = check("log:flush", options, { timeout = "number" }, 2).timeout or math.huge
  local outlet, ends = states[self].shared.outlet, ml.now() + timeout
  while outlet.sink and sinks.drain(outlet.sink) > 0 do
    local problem, code = sinks.problem(outlet.sink)
    if problem then return nil, problem, code end
    if ml.now() >= ends then return nil, "the log is not written yet", "ETIMEDOUT" end
    ml.sleep(AGAIN)
  end
  if outlet.sink and sinks.problem(outlet.sink) then return nil, sinks.problem(outlet.sink) end
  return true
end

-- What still waits is written first, without waiting for that.
function methods:close()
  local outlet = states[self].shared.outlet
  unheld.remove(outlet)
  outlet.is_closed = true
  function outlet.write() return false end
  if not outlet.sink or outlet.timer then return end
  sinks.close(outlet.sink)
  outlet.sink = nil
end
meta.__close = methods.close

local FIELDS = { "level", "dropped", "suppressed" }

function meta.__index(handle, key)
  local state = states[handle]
  if methods[key] then return methods[key] end
  if key == "level" then return NAMES[state.rank] end
  if key == "dropped" or key == "suppressed" then return state.shared[key] end
  local names = { table.unpack(FIELDS) }
  for name in pairs(methods) do names[#names + 1] = name end
  table.sort(names)
  error(("a log has no field '%s'%s"):format(tostring(key),
    spelling.hint(tostring(key), names, "there are")), 2)
end

local function rank_of(level, depth)
  return LEVELS[level] or error(("ml.log: unknown level '%s'%s"):format(tostring(level),
    spelling.hint(tostring(level), NAMES)), depth + 1)
end

function meta.__newindex(handle, key, value)
  if key ~= "level" then error(("log.%s: cannot be set"):format(tostring(key)), 2) end
  states[handle].rank = rank_of(value, 2)
end

return function(options)
  options = check("ml.log", options, OPTIONS, 2)
  local rank = rank_of(options.level or "info", 2)
  local is_journal = has_sinks and (options.to or "stderr") == "stderr" and sinks.is_journal(2)
  local format = options.format or is_journal and "journal" or "text"
  if not lines.forms[format] then
    error(("ml.log: unknown format '%s'%s"):format(format, spelling.hint(format, FORMATS)), 2)
  elseif options.rate and options.rate < 1 then
    error(("ml.log: 'rate' must be at least 1, got %d"):format(options.rate), 2)
  end
  local outlet, problem, code = open(options.to or "stderr")
  if code then return nil, "ml.log: " .. problem, code end
  if not outlet then error("ml.log: " .. problem, 2) end
  return make { rank = rank, form = lines.forms[format], fields = options.fields or {},
    rate = options.rate, shared = { outlet = outlet, dropped = 0, suppressed = 0, missing = 0,
      watched = {}, count = 0 } }
end
