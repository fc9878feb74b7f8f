-- A service that other programs control through a named port: it keeps counters, and reports each
-- change of one to those who watch it. control.lua, beside it, is such a program:
--
--     moonloop run scripts/examples/ports/service.lua &
--     moonloop run scripts/examples/ports/control.lua add apples 3
local ml = require "moonloop"
local loop = ml.current()

local name = arg[1] or "org.example.counters"
local counters, watchers = {}, {}

local service, message = ml.port.listen(name)
if not service then
  io.stderr:write(message, "\n")
  os.exit(1)
end

local operations = {}

function operations.add(request)
  local value = (counters[request.counter] or 0) + request.by
  counters[request.counter] = value
  for port in pairs(watchers[request.counter] or {}) do
    if not port:send(value) then watchers[request.counter][port] = nil end   -- it has gone
  end
  return value
end

-- A watcher sends its own port: the changes go there.
function operations.watch(request)
  watchers[request.counter] = watchers[request.counter] or {}
  watchers[request.counter][request.port] = true
  return counters[request.counter] or 0
end

function operations.list() return counters end

function operations.stop()
  service:invalidate()   -- what was sent still goes out; then nothing is left, and the program ends
  return "stopped"
end

service:on("message", function(request, reply, from)
  local operation = operations[request.op]
  if not operation then return reply { failure = ("there is no '%s'"):format(request.op) } end
  print(from.name .. " asks to " .. request.op)
  reply { value = operation(request) }
end)
loop:signal({ "term", "int" }, function() service:invalidate() loop:stop() end):keep_alive(false)
print("listening on " .. name)
