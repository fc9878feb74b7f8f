-- No message is lost, doubled or reordered, though the port holds few; what does not fit waits with
-- the sender, which can see that.
local ml = require "moonloop"
local loop = ml.current()
local name <const> = "org.example.test.order"
local control = assert(ml.port.listen(name, { capacity = 4 }))
local client = assert(ml.port.connect(name, { capacity = 4 }))
local count <const> = 2000

-- Nothing receives, so at some point the queues of both sides and the socket are full.
local sent, full = 0, nil
repeat
  local ok, text, code = client:send { sent + 1, ("x"):rep(1 << 16) }
  if ok then sent = sent + 1 else full = code; assert(text:find "is full: 4 messages", text) end
until full or sent > 10000
assert(full == "EAGAIN" and sent >= 4, sent)

local job = loop:task(function()
  local got = 0
  local reader = loop:task(function()
    while got < count do
      local message = control:receive()
      got = got + 1
      assert(message[1] == got, got)
    end
  end)
  for i = sent + 1, count do assert(client:send({ i }, { timeout = 1000 })) end
  reader:await()
  -- What was sent before the end arrives.
  for i = 1, 4 do client:send("last " .. i) end
  client:invalidate()
  for i = 1, 4 do assert(control:receive() == "last " .. i) end
  control:invalidate()
end)
job:wait { timeout = 10000, mode = "default" }
job:await()
