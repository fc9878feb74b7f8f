-- Connections: a host's addresses one after the other, each while the loop goes on.
local ml = require "moonloop"
local names = require "moonloop.compat.socket.names"
local waiting = require "moonloop.compat.socket.waiting"

local connecting = {}

local FAMILIES = { inet4 = "inet", inet = "inet", inet6 = "inet6" }

local function is_place(host, port)
  local kind = type(port)
  return type(host) == "string" and (kind == "number" or kind == "string")
end

-- Tries one address.
local function try(c, socket, state, host, port, begin)
  local done, why = c.connect(socket, host, port)
  if done or why ~= "timeout" or waiting.is_eager(state) then return done, why end
  local ok, failure = waiting.ready("socket:connect", state, c.getfd(socket), "c", begin)
  if not ok then return nil, failure end
  why = c.getoption(socket, "error")
  if why then return nil, why end
  return 1
end

--- `tcp:connect`, also as `setpeername`.
function connecting.connect(c)
  return function(socket, host, port)
    if not is_place(host, port) then
      return waiting.original(":connect", c.connect, socket, host, port)
    end
    local state, begin = waiting.of(socket, c), ml.now()
    if names.is_address(host) then return try(c, socket, state, host, port, begin) end
    local limit = math.max(state.block, state.total)
    local family = c.getfd(socket) >= 0 and FAMILIES[c.getfamily(socket)] or nil
    local found, why = names.look_up(host, family, limit > 0 and limit or nil)
    if not found then return nil, why end
    for _, address in ipairs(found) do
      local done
      done, why = try(c, socket, state, address, port, begin)
      if done or why == "timeout" or why == "closed" then return done, why end
    end
    return nil, why
  end
end

--- `udp:setpeername`: it blocks only to look up a name.
function connecting.setpeername(c)
  return function(socket, host, port)
    if host == "*" or not is_place(host, port) or names.is_address(host) then
      return waiting.original(":setpeername", c.setpeername, socket, host, port)
    end
    local family = c.getfd(socket) >= 0 and FAMILIES[c.getfamily(socket)] or nil
    local found, why = names.look_up(host, family)
    if not found then return nil, why end
    for _, address in ipairs(found) do
      local done
      done, why = c.setpeername(socket, address, port)
      if done then return done end
    end
    return nil, why
  end
end

--- `bind` and `setsockname` of any socket.
function connecting.bind(c, name)
  return function(socket, host, port)
    if host == "*" or not is_place(host, port) or names.is_address(host) then
      return waiting.original(":" .. name, c[name], socket, host, port)
    end
    local family = c.getfd(socket) >= 0 and FAMILIES[c.getfamily(socket)] or nil
    local found, why = names.look_up(host, family)
    if not found then return nil, why end
    return c[name](socket, found[1], port)
  end
end

--- `socket.connect`.
function connecting.install(socket)
  local original = socket.connect
  local makers = { inet = socket.tcp4, inet6 = socket.tcp6, unspec = socket.tcp }
  function socket.connect(host, port, local_host, local_port, family)
    local make = makers[family or "unspec"]
    if not is_place(host, port) or not make then
      return waiting.original("connect", original, host, port, local_host, local_port, family)
    end
    local made, why = make()
    if not made then return nil, why end
    local done = true
    if local_host then done, why = made:bind(local_host, local_port or 0) end
    if done then done, why = made:connect(host, port) end
    if done then return made end
    made:close()
    return nil, why
  end
end

return connecting
