-- luv's getaddrinfo and getnameinfo: names are resolved off the loop.
local ml = require "moonloop"
local core = require "moonloop.compat.uv.core"
local socket = require "moonloop.compat.uv.socket"

local uv = core.uv

local TYPES = { stream = "tcp", dgram = "udp", raw = "ip" }
local NUMBERS = { [1] = "stream", [2] = "dgram", [3] = "raw" }
local PROTOCOLS = { [0] = "ip", [1] = "icmp", [6] = "tcp", [17] = "udp" }

-- The port of a service: a number, or from the system's list. nil: unknown.
local function port_of(service, protocol)
  if service == nil then return 0 end
  local number = math.tointeger(tonumber(service))
  if number then return number end
  local file = io.open "/etc/services"
  if not file then return nil end
  local found
  for line in file:lines() do
    local names, port, kind = line:gsub("#.*", ""):match "^(%S+%s+)(%d+)/(%S+)"
    if names and (not protocol or kind == protocol) then
      local aliases = " " .. names .. line:gsub("#.*", ""):match "^%S+%s+%S+(.*)" .. " "
      if aliases:find("[%s]" .. service:gsub("%p", "%%%0") .. "%s") then
        found = math.tointeger(tonumber(port))
        break
      end
    end
  end
  file:close()
  return found
end

-- One entry for each address and kind of socket, as in the C library.
local function entries(addresses, service, hints, name)
  local list = {}
  for _, host in ipairs(addresses) do
    for number, kind in ipairs(NUMBERS) do
      local protocol = TYPES[kind]
      local wanted = hints.socktype
      local is_wanted = (wanted == nil or wanted == kind or wanted == number)
        and (hints.protocol == nil or hints.protocol == 0 or hints.protocol == protocol
          or PROTOCOLS[hints.protocol] == protocol)
      local port = is_wanted and kind ~= "raw" and port_of(service, protocol)
        or (kind == "raw" and (service == nil or tonumber(service)) and port_of(service))
      if is_wanted and port then
        list[#list + 1] = { addr = host, family = host:find ":" and "inet6" or "inet", port = port,
          socktype = kind, protocol = protocol, canonname = hints.canonname and #list == 0 and name
            or nil }
      end
    end
  end
  return list
end

-- Calls `done(list)` or `done(nil, code)`, in the given modes.
local function look_up(name, service, hints, family, modes, done)
  local function finish(addresses, _, code)
    if not addresses then return done(nil, code) end
    local list = entries(addresses, service, hints, name)
    if #list == 0 then return done(nil, "EAI_SERVICE") end
    done(list)
  end
  return ml.current():task({ name = "uv.getaddrinfo", modes = modes }, function()
    if name == nil then
      local both = hints.passive and { "0.0.0.0", "::" } or { "::1", "127.0.0.1" }
      local kept = {}
      for _, host in ipairs(both) do
        local is_v6 = host:find ":" ~= nil
        if not family or is_v6 == (family == "inet6") then kept[#kept + 1] = host end
      end
      return finish(kept)
    end
    if hints.numerichost and not require("moonloop.posix").address(name) then
      return done(nil, "EAI_NONAME")
    end
    finish(ml.net.resolve(name, { family = family or "any" }))
  end)
end

local function by_worker(family, host, port, modes, done)
  return ml.current():task({ name = "uv.getnameinfo", modes = modes }, function()
    local worker = assert(ml.worker { name = "uv.getnameinfo", modes = modes,
      args = { family, host, port },
      source = [[return require("moonloop.posix").names(table.unpack(...))]] })
    done(worker:await())
  end)
end

function uv.getaddrinfo(host, service, hints, callback)
  if host ~= nil then host = core.text(host, 1) end
  if service ~= nil then service = core.text(service, 2) end
  core.check(hints == nil or type(hints) == "table", 3, "table expected, got " .. type(hints))
  core.callback(callback, 4, true)
  hints = hints or {}
  local family = socket.family_name(hints.family, 3)
  if host == nil and service == nil then return core.fail "EINVAL" end
  if callback then
    local req = core.request("getaddrinfo", callback)
    local task = look_up(host, service, hints, family, nil, function(list, code)
      if req._done then return end
      if list then core.finish_later(req, nil, list) else core.finish_later(req, code) end
    end)
    req._task = task
    return req._out
  end
  local list, code = core.block(function(mode, done)
    return look_up(host, service, hints, family, mode, done)
  end)
  if list then return list end
  return core.fail(code)
end

function uv.getnameinfo(address, callback)
  core.check(type(address) == "table", 1, "table expected, got " .. type(address))
  core.callback(callback, 2, true)
  core.check(address.ip == nil or type(address.ip) == "string", 1,
    "ip property must be string if set")
  core.check(address.port == nil or math.type(address.port) == "integer", 1,
    "port property must be integer if set")
  local family = socket.family_name(address.family, 1)
  local host = address.ip
  if host then
    family = require("moonloop.posix").address(host)
    core.check(family, 1, "Invalid ip address or port")
  end
  if not family and not address.port then return core.fail "EINVAL" end
  family = family or "inet"
  host = host or (family == "inet6" and "::" or "0.0.0.0")
  local port = address.port or 0
  if callback then
    local req = core.request("getnameinfo", callback)
    by_worker(family, host, port, nil, function(name, service, code)
      if name then core.finish_later(req, nil, name, service) else core.finish_later(req, code) end
    end)
    return req._out
  end
  local name, service, code = core.block(function(mode, done)
    return by_worker(family, host, port, mode, done)
  end)
  if name then return name, service end
  return core.fail(code)
end
