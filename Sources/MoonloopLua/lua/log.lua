-- ml.log: records with a level and fields that never keep the loop waiting: they wait in a bounded
-- buffer (CLinuxShims/log.c), and what has no room there is dropped and counted.
local ml = require "moonloop"
local check = require "moonloop.text.options"
local handles = require "moonloop.text.handles"
local host = require "moonloop.text.host"
local lines = require "moonloop.log.lines"
local unheld = require "moonloop.unheld"
local warning = require "moonloop.warning"
local mistake = host.mistake
-- A script that was not granted everything writes where its `print` writes.
local has_sinks, sinks = pcall(require, "moonloop.sink")
local count = not has_sinks and require "moonloop.log.count"
local print = print

local OPTIONS = { level = { "string", "debug", "info", "warn", "error" }, fields = "table",
  format = { "string", "text", "json", "journal" }, to = "any", rate = { "integer", 1, 1000000 } }
local FIELDS = { level = function(state) return state.level end }
for _, name in ipairs { "dropped", "suppressed" } do
  FIELDS[name] = function(state) return state.shared[name] end
end
local AGAIN = 0.02  -- seconds until a full descriptor is tried again

local methods = {}
local kind = handles.kind("log", methods, FIELDS)

local Outlet = {}  -- where lines go, if not to a function
Outlet.__index = Outlet

function Outlet:__gc()
  if self.sink then sinks.close(self.sink) end
  self.sink = nil
end

-- Tries again as long as something waits; that keeps no run alive, since the end writes it out.
function Outlet:drain_later()
  self.timer = self.timer or ml.current():timer { every = AGAIN, keep_alive = false,
    modes = "common", name = "log", function(timer)
      if sinks.drain(self.sink) > 0 then return end
      self.timer = timer:invalidate()
      if self.is_closed then self:__gc() end
    end }
end

-- Both or neither is taken: a short notice must not fill the room that no record fits into. A
-- failure is reported once; what waits on a full disk is written when there is room again.
function Outlet:write(line, notice)
  local text = (notice and notice .. "\n" or "") .. line .. "\n"
  local is_taken, left, problem = sinks.write(self.sink, text)
  if left > 0 and not self.is_file then self:drain_later() end
  if problem and not self.is_reported and self.name ~= "stderr" then
    warning.write(("log '%s': %s; records are %s"):format(self.name, problem,
      left > 0 and "kept until there is room" or "dropped from now on"))
  end
  self.is_reported = problem ~= nil
  return is_taken
end

-- The outlet of an option 'to'; or nil, message, code.
local function open(to)
  local fd = to == "stdout" and 1 or to == "stderr" and 2
  if fd and not has_sinks then to = print end
  if type(to) == "function" then return { write = function(_, line) to(line) return true end } end
  local wrong = type(to) ~= "string" and "'to' must be \"stderr\", \"stdout\", a path or a function"
    or not has_sinks and "only a script with all grants may write logs to files"
  if wrong then mistake("ml.log: " .. wrong) end
  local sink, problem, code = sinks.open(fd or to)
  if not sink then return nil, ("ml.log: '%s'%s"):format(to, problem:match ":.*"), code end
  local outlet = setmetatable({ sink = sink, is_file = sinks.is_file(sink), name = to }, Outlet)
  if not fd then unheld.add(outlet, "log", to) end
  return outlet
end

local function write(self, level, message, all)
  local shared = self.shared
  local notice = shared.dropped > shared.told and lines.make(self.form, "warn",
    "records were dropped", { dropped = shared.dropped - shared.told }) or nil
  if count then count.line() end
  local line = lines.make(self.form, level, message, all)
  local is_taken = not shared.outlet.is_closed and shared.outlet:write(line, notice)
  if is_taken then shared.told = shared.dropped else shared.dropped = shared.dropped + 1 end
end

-- Tells how often messages were held back. Returns the outlet.
local function tell(shared)
  local held = shared.held
  shared.held, shared.timer = {}, shared.timer and shared.timer:invalidate()
  for _, one in ipairs(held) do
    write(one[1], one[2], one[3], lines.merged(one[1].fields, { suppressed = one.held }))
    one.held = 0
  end
  return shared.outlet
end

-- Whether a message was logged too often in this second, which is reported at its end.
local function is_held(self, level, message)
  local shared, now = self.shared, ml.now()
  if now - shared.since >= 1 then shared.watched, shared.since = {}, now end
  local one = shared.watched[message] or { self, level, message, logged = 0, held = 0 }
  shared.watched[message], one.logged = one, one.logged + 1
  if one.logged <= self.rate then return false end
  if one.held == 0 then table.insert(shared.held, one) end
  one.held, shared.suppressed = one.held + 1, shared.suppressed + 1
  shared.timer = shared.timer or ml.current():timer { first = shared.since + 1 - now,
    keep_alive = false, modes = "common", name = "log", function() tell(shared) end }
  return true
end

for level, rank in pairs(lines.levels) do
  methods[level] = function(handle, message, fields)
    local self = kind.of(handle, level)
    local problem = type(message) ~= "string"
        and "the message must be a string, got " .. host.given(message)
      or fields ~= nil and type(fields) ~= "table"
        and "the fields must be a table, got " .. host.given(fields)
    if problem then mistake(("log:%s: %s"):format(level, problem)) end
    if rank <= lines.levels[self.level] and not (self.rate and is_held(self, level, message)) then
      write(self, level, message, lines.merged(self.fields, fields))
    end
  end
end

function methods:with(fields)
  local own = kind.of(self, "with")
  if type(fields) ~= "table" then mistake("log:with: takes a table of fields") end
  return kind.make(lines.merged(own, { fields = lines.merged(own.fields, fields) }))
end

function methods:flush(options)
  local state = kind.of(self, "flush")
  options = check("log:flush", options, { timeout = "number" })
  local outlet, ends = tell(state.shared), ml.now() + (options.timeout or math.huge)
  while outlet.sink do
    local left, problem, code = sinks.drain(outlet.sink)
    if problem then return nil, problem, code end
    if left == 0 then break end
    if ml.now() >= ends then return nil, "the log is not written yet", "ETIMEDOUT" end
    if not outlet.is_file then ml.sleep(AGAIN)
    else require("moonloop.files").wait(options.timeout, "log:flush", "await_log", outlet.sink) end
  end
  return true
end

-- What still waits is written first, without waiting for that.
function methods:close()
  local outlet = tell(kind.of(self, "close").shared)
  unheld.remove(outlet)
  outlet.is_closed = true
  if outlet.sink and not outlet.timer then outlet:__gc() end
end

function kind.meta.__newindex(handle, key, value)
  if key ~= "level" then mistake(("log.%s: cannot be set"):format(tostring(key))) end
  kind.of(handle).level = check("ml.log", { level = value or "nil" }, OPTIONS).level
end

return function(options)
  options = check("ml.log", options, OPTIONS)
  local to = options.to or "stderr"
  local form = has_sinks and to == "stderr" and sinks.is_journal(2) and "journal" or "text"
  local outlet, problem, code = open(to)
  if not outlet then return nil, problem, code end
  return kind.make { level = options.level or "info", fields = options.fields or {},
    form = lines.forms[options.format or form], rate = options.rate,
    shared = { outlet = outlet, dropped = 0, suppressed = 0, told = 0, held = {}, since = -1 } }
end
