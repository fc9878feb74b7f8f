-- Serves consoles of other processes of the same user, on a Unix socket in a folder of his own.
local ml = require "moonloop"
local host = require "moonloop.console.host"
local session = require "moonloop.console.session"
local wire = require "moonloop.console.wire"
local loop = ml.current()

local server = {}

-- Requests are lines; a longer one is nothing that anybody typed.
local LINE_LIMIT = 1 << 20

local listener
local connections = {}

local function send(stream, message) return stream:write(wire.encode(message), "\n") end

local requests = {}

-- Values of an expression: as text for people, or as JSON for programs.
function requests.eval(own, request, reply)
  local outcome = own:evaluate(request.eval)
  if outcome.failure then
    return reply { ok = false, error = outcome.failure, incomplete = outcome.incomplete }
  end
  local values = outcome.values
  if request.as == "json" then
    local list = {}
    for place = 1, values.n do list[place] = wire.encode(values[place]) end
    return reply { ok = true, count = values.n, values = list }
  end
  reply { ok = true, count = values.n, text = own:text(values) }
end

local function answer(own, request, reply)
  for name, handler in pairs(requests) do
    if request[name] ~= nil then
      if type(request[name]) ~= "string" then
        return reply { ok = false, error = ("'%s' must be a text"):format(name) }
      end
      return handler(own, request, reply)
    end
  end
  reply { ok = false, error = "unknown request; there are eval, complete and interrupt" }
end

-- One connection: requests are answered one after the other; only an interruption overtakes.
local function serve(stream, peer)
  stream:keep_alive(false)
  if peer.uid ~= host.user() and peer.uid ~= 0 then return end
  local own = session.new(function(text) send(stream, { event = "print", text = text }) end)
  local waiting <close> = ml.channel(64)
  connections[own] = stream
  send(stream, { event = "hello", version = 1, pid = host.number(), mode = loop.mode })
  loop:task({ owner = "none", name = "console", modes = session.modes }, function()
    for request in waiting:items() do
      answer(own, request, function(reply)
        reply.id = request.id
        send(stream, reply)
      end)
    end
  end)
  for line in stream:lines() do
    local request, message = wire.decode(line)
    if type(request) ~= "table" then
      send(stream, { ok = false, error = message or "a request must be an object" })
    elseif request.interrupt then
      own:interrupt()
    else
      waiting:send(request)
    end
  end
  connections[own] = nil
  own:interrupt()
end

--- Where the socket of a process is.
function server.path(pid)
  local folder, message, code = host.folder()
  if not folder then return nil, message, code end
  return ("%s/%d.sock"):format(folder, pid)
end

--- Listens from now on, if that is not done yet. Returns the path of the socket; or nil, message,
--- code.
function server.listen()
  local path, message, code = server.path(host.number())
  if not path then return nil, message, code end
  if listener and listener:is_valid() then return path end
  local made
  made, message, code = ml.net.listen {
    path = path, permissions = tonumber("600", 8), modes = session.modes, name = "console",
    line_limit = LINE_LIMIT, serve,
  }
  if not made then return nil, message, code end
  listener = made
  listener:keep_alive(false)
  return path
end

return server
