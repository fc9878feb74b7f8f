-- Methods of LuaSocket's UDP sockets and of its datagram sockets of Unix.
local ml = require "moonloop"
local waiting = require "moonloop.compat.socket.waiting"

local datagrams = {}

local EVENTS = { send = "w", sendto = "w", receive = "r", receivefrom = "r" }

-- A method that is repeated until it does not answer "timeout".
local function method(c, name)
  local label, event = "socket:" .. name, EVENTS[name]
  return function(socket, ...)
    local state, begin = waiting.of(socket, c), ml.now()
    while true do
      local results = table.pack(waiting.try(2, ":" .. name, c[name], socket, ...))
      if results[1] or results[2] ~= "timeout" or waiting.is_eager(state) then
        return table.unpack(results, 1, results.n)
      end
      local ok, why = waiting.ready(label, state, c.getfd(socket), event, begin)
      if not ok then return nil, why end
    end
  end
end

--- Puts methods into a class.
function datagrams.patch(c, class)
  for name in pairs(EVENTS) do
    if c[name] then class[name] = method(c, name) end
  end
end

return datagrams
