-- A full port holds up no other port of the same connection, and keeps its own order.
local ml = require "moonloop"
local loop = ml.current()
local name <const> = "org.example.test.blocked." .. ml.process.id()

loop:task(function()
  local service = assert(ml.port.listen(name, { capacity = 4 }))
  local client = assert(ml.port.connect(name))
  -- Two more ports over the same connection.
  local urgent, narrow = ml.channel(100), loop:port { name = "narrow", capacity = 1 }
  local second = loop:port { name = "second", function(_, message) urgent:send(message) end }
  client:send "hello"
  local _, _, from = service:receive()
  from:send { second = second, narrow = narrow }
  local ways = client:receive()

  for index = 1, 50 do client:send(index) end
  for index = 1, 10 do ways.narrow:send("narrow " .. index) end
  ways.second:send "past two full ports"
  assert(urgent:receive() == "past two full ports")
  assert(service.waiting == 4 and narrow.waiting == 1)
  -- So does a reply.
  local asked = loop:task(function() return client:request "last" end)
  for index = 1, 50 do assert(service:receive() == index) end
  local message, reply = service:receive()
  assert(message == "last")
  reply "and its reply"
  assert(asked:await() == "and its reply")
  for index = 1, 10 do assert(narrow:receive() == "narrow " .. index) end

  -- There is a limit: beyond it messages stay in order, and all arrive once there is room.
  local large = ("x"):rep(100000)
  for index = 1, 40 do client:send { index, large } end
  ways.second:send "late"
  for index = 1, 40 do
    local message = service:receive()
    assert(message[1] == index and message[2] == large)
  end
  assert(urgent:receive() == "late")

  -- The other process ends while some still wait: they are delivered.
  for index = 1, 20 do client:send(index) end
  for index = 1, 5 do ways.narrow:send(index) end
  ways.second:send "past them again"
  client:invalidate()
  for index = 1, 20 do assert(service:receive() == index) end
  for index = 1, 5 do assert(narrow:receive() == index) end
  assert(urgent:receive() == "past them again")
  service:invalidate() second:invalidate() narrow:invalidate()
end):wait { mode = "default" }
