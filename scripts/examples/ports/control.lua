-- Sends requests to service.lua, another process, through its named port:
--
--     control.lua add COUNTER NUMBER | list | watch COUNTER | stop
local ml = require "moonloop"
local loop = ml.current()

local op, counter, by = table.unpack(arg)
local name = os.getenv "COUNTERS" or "org.example.counters"

local function quit(text)
  io.stderr:write(text, "\n")
  os.exit(1)
end

if not op then quit "usage: control.lua add COUNTER NUMBER | list | watch COUNTER | stop" end

loop:task(function()
  local port <close>, message = ml.port.connect(name)
  if not port then return quit(message) end

  local request = { op = op, counter = counter, by = math.tointeger(by) or 1 }
  local changes
  if op == "watch" then
    changes = loop:port { name = "changes", capacity = 100 }
    request.port = changes
  end
  local answer, why = port:request(request, { timeout = 5 })
  if not answer then return quit(why) end
  if answer.failure then quit(answer.failure) end

  if op == "list" then
    local names = {}
    for each in pairs(answer.value) do names[#names + 1] = each end
    table.sort(names)
    for _, each in ipairs(names) do print(each, answer.value[each]) end
  else
    print(answer.value)
    io.stdout:flush()
  end
  if op ~= "watch" then return end

  -- Until the service ends: then nothing can be sent to the port any more.
  loop:task(function()
    port:receive()
    changes:invalidate()
  end)
  for value in function() return (changes:receive()) end do
    print(value)
    io.stdout:flush()
  end
end)
