-- A port with a name is found by it, and does what every port does: replies, pushes, ports and
-- descriptors in messages, and both sides see the end of the other.
local ml = require "moonloop"
local loop = ml.current()
local name <const> = "org.example.test.named"
local control = assert(ml.port.listen(name, { capacity = 8 }))
local client
control:on("message", function(message, reply, from)
  if message.op == "echo" then return reply(message.value) end
  if message.op == "subscribe" then
    assert(from.name:match "^process %d+$", from.name)
    message.to:send "to the port that was sent"
    from:send "to the client"
    return reply(message.to)   -- it comes back as the original port
  end
  if message.op == "write" then
    message.stream:write "through the descriptor"
    message.stream:close()
    return reply(true)
  end
  if message.op == "forget" then loop:after(0, function() collectgarbage() end) end
end)

-- Names are unique; an error says which process has one.
local second, text, code = ml.port.listen(name)
assert(second == nil and code == "EADDRINUSE", text)
assert(text == "port '" .. name .. "': the name is taken: this process listens on it", text)
assert(select(3, ml.port.connect "org.example.test.nobody") == "ECONNREFUSED")

client = assert(ml.port.connect(name))
assert(client.name == name and client:modes()[1] == "default")
local job = loop:task(function()
  local shared = { 1 }
  local value = { integer = 1, float = 1.0, bytes = "\0\xff", a = shared, b = shared }
  value.self = value
  local back = assert(client:request { op = "echo", value = value })
  assert(math.type(back.integer) == "integer" and math.type(back.float) == "float")
  local own = loop:port { keep_alive = false, function() end }
  local keyed = assert(client:request { op = "echo", value = { [own] = 7 } })
  assert(keyed[own] == 7 and next(keyed, own) == nil)
  own:invalidate()
  assert(back.bytes == "\0\xff" and back.a == back.b and back.self == back and back.a[1] == 1)
  -- Large messages are sent in parts.
  local large = ("x"):rep(3 << 20)
  assert(client:request { op = "echo", value = large } == large)

  local got
  local mine <close> = loop:port { function(_, message) got = message end }
  local home = assert(client:request { op = "subscribe", to = mine })
  assert(home == mine)
  assert(client:receive() == "to the client")
  while not got do ml.sleep(0) end
  assert(got == "to the port that was sent")

  local r, w = pipe()
  local reader, writer = ml.stream { fd = r, close = true }, ml.stream { fd = w, close = true }
  assert(client:request { op = "write", stream = writer })
  writer:close()
  assert(reader:read "a" == "through the descriptor")
  reader:close()

  -- A request that can no longer be answered fails at once.
  local reply, why, what = client:request { op = "forget" }
  assert(reply == nil and what == "EPIPE", why)

  -- Where Lua cannot wait, nothing else is served: not even the handler that could answer.
  local answers = {}
  table.sort({ 1, 2 }, function()
    answers[1] = select(3, client:request({ op = "echo", value = 7 }, { timeout = 0.01 }))
    answers[2] = client:request({ op = "echo", value = 7 }, { mode = "default" })
    return false
  end)
  assert(answers[1] == "ETIMEDOUT" and answers[2] == 7)

  -- The error names what cannot be sent.
  local ok, problem = pcall(client.send, client, { list = { print } })
  assert(not ok and problem:find("message.list[1] is a function, which cannot be sent", 1, true),
    problem)

  -- When the listener ends, so does the connection; then the name is free.
  control:invalidate()
  assert(select(3, client:receive()) == "EPIPE" and not client:is_valid())
  assert(select(3, client:send "late") == "EPIPE")
  local again <close> = assert(ml.port.listen(name))
end)
job:wait { timeout = 1000, mode = "default" }
job:await()
