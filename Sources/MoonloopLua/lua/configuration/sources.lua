-- The kinds of sources in configurations. Each defines all that is special about it: rules for its
-- fields, how it is made, and its words in plans and script checks.
local ml = require "moonloop"
local rules = require "moonloop.configuration.rules"

local sources = {}

local function argv(report, path, value)
  if type(value) == "table" and next(value) == nil then
    report(path, "must be a list of the program and its arguments, got an empty table")
    return false
  end
  if type(value) == "string" then
    report(path, ("must be a list of the program and its arguments, got %s; there is no shell")
      :format(rules.given(value)))
    return false
  end
  return rules.list(rules.text)(report, path, value)
end

-- Whether a listener accepts this host: listeners do not resolve names.
local function is_host(text)
  if text == "localhost" or text == "*" or text:find ":" then return true end
  local parts = { text:match "^(%d+)%.(%d+)%.(%d+)%.(%d+)$" }
  for _, part in ipairs(parts) do
    if #part > 3 or tonumber(part) > 255 then return false end
  end
  return #parts == 4
end

-- "unix:app.sock", "tcp:127.0.0.1:8080", "tcp:8080", "tcp:[::1]:8080" as options of a listener.
local function to_address(text)
  local path = text:match "^unix:(.+)$"
  if path then
    local is_good = not path:find("\0", 1, true) and #path <= (path:find "^@" and 108 or 107)
    return is_good and { path = path } or nil
  end
  local rest = text:match "^tcp:(.+)$"
  if not rest then return nil end
  local host, port = rest:match "^%[([%x:.]*:[%x:.]*)%]:(%d+)$"
  if not host then host, port = rest:match "^([^:]+):(%d+)$" end
  if not host then port = rest:match "^(%d+)$" end
  port = math.tointeger(tonumber(port))
  if not port or port > 65535 or host and not is_host(host) then return nil end
  return { host = host or "127.0.0.1", port = port }
end

local function address(report, path, value)
  if type(value) == "string" and to_address(value) then return true end
  report(path, ("must be an address, e.g. \"unix:app.sock\" or \"tcp:127.0.0.1:8080\", got %s")
    :format(rules.given(value)))
  return false
end

-- The rules of `ml.port.listen`.
local function port_name(report, path, value)
  if type(value) == "string" and #value <= 64 and value:find "^[%w_-][%w._-]*$" then return true end
  report(path, ("must be the name of a port, e.g. \"org.example.app\", got %s")
    :format(rules.given(value)))
  return false
end

local function list(value) return type(value) == "table" and value or { value } end

-- The options of a maker: the handler, those that every item has, and some of its own.
function sources.options(name, one, own)
  local made = { name = name, modes = one.modes, keep_alive = one.keep_alive,
    on_error = one.on_error, one.handler }
  for key, value in pairs(own or {}) do made[key] = value end
  return made
end
local options = sources.options

-- Each kind, by the field that names it:
--   fields     the rules of its own fields
--   handler    what 'handler' is: "needed", "allowed", or nil where other fields are handlers
--   make       makes the handle
--   words      what it is in a plan
--   method     the function that makes it in a script, and calls its handler again and again
--   made       what is lost when a handler drops the handle; nil: it cannot be lost
--   holding    what keeps a run open until it is ended
--   simulated  it is made in a simulation too, without a stand-in
sources.kinds = {
  perform = {
    fields = { perform = rules.handler, schedule = rules.handler, cancel = rules.handler,
      order = rules.whole },
    make = function(loop, name, one)
      return loop:source(options(name, one, { perform = one.perform, schedule = one.schedule,
        cancel = one.cancel, order = one.order }))
    end,
    words = function() return "when it is signalled" end,
    method = "source", made = "a source", simulated = true,
  },
  fd = {
    fields = { fd = rules.descriptor, read = rules.handler, write = rules.handler },
    make = function(loop, name, one)
      return loop:fd(options(name, one, { fd = one.fd, read = one.read, write = one.write }))
    end,
    words = function(one)
      local events = {}
      if one.read then events[1] = "read" end
      if one.write then events[#events + 1] = "write" end
      return ("descriptor %d, to %s"):format(one.fd, table.concat(events, " and "))
    end,
    method = "fd", made = "a descriptor source", holding = "descriptor",
  },
  listen = {
    fields = { listen = address, backlog = rules.count(1, 65535) }, handler = "needed",
    make = function(_, name, one)
      local own = to_address(one.listen)
      own.backlog = one.backlog
      return ml.net.listen(options(name, one, own))
    end,
    words = function(one) return "listens on " .. one.listen end,
    method = "listen", holding = "listener",
  },
  signal = {
    fields = { signal = rules.names(rules.signal, "the name of a signal") }, handler = "needed",
    make = function(loop, name, one)
      local made = options(name, one)
      made[1], made[2] = one.signal, one.handler
      return loop:signal(made)
    end,
    words = function(one) return "signal " .. table.concat(list(one.signal), ", ") end,
    method = "signal",
  },
  watch = {
    fields = { watch = rules.text, debounce = rules.seconds, recursive = rules.flag },
    handler = "needed",
    make = function(loop, name, one)
      local made = options(name, one, { debounce = one.debounce, recursive = one.recursive })
      made[1], made[2] = one.watch, one.handler
      return loop:watch(made)
    end,
    words = function(one) return "changes of " .. one.watch end,
    method = "watch", made = "a file watch", holding = "file watch",
  },
  pressure = {
    fields = { pressure = rules.word { "memory", "cpu", "io" }, stall = rules.positive_seconds,
      window = rules.positive_seconds, level = rules.word { "some", "full" }, file = rules.text },
    handler = "needed",
    make = function(loop, name, one)
      return loop:pressure(options(name, one, { resource = one.pressure, stall = one.stall,
        window = one.window, level = one.level, file = one.file }))
    end,
    words = function(one) return "pressure of " .. one.pressure end,
    method = "pressure",
  },
  process = {
    fields = { process = argv, cwd = rules.text }, handler = "allowed",
    make = function(_, name, one)
      local own = { cwd = one.cwd, name = name, modes = one.modes, on_exit = one.handler }
      table.move(one.process, 1, #one.process, 1, own)
      return ml.process.spawn(own)
    end,
    words = function(one) return "runs " .. table.concat(one.process, " ") end,
  },
  port = {
    fields = { port = port_name, capacity = rules.count(1, 1 << 24) }, handler = "needed",
    make = function(_, _, one)
      return ml.port.listen(one.port, options(nil, one, { capacity = one.capacity }))
    end,
    words = function(one) return "port " .. one.port end,
  },
}
sources.names = rules.sorted_keys(sources.kinds)

-- The kind of a source; nil if it has none; or nil and two kinds if it has several.
function sources.kind_of(value)
  local found
  for _, kind in ipairs(sources.names) do
    if value[kind] ~= nil then
      if found then return nil, found, kind end
      found = kind
    end
  end
  return found
end

-- One property of the kinds, by the functions that make them in scripts.
function sources.by_method(key)
  local found = {}
  for _, kind in pairs(sources.kinds) do
    if kind.method then found[kind.method] = kind[key] end
  end
  return found
end

return sources
