-- Ports go through ports: both ends work on other threads; a port sent back is the original.
local ml = require "moonloop"
local loop = ml.current()
local source = [[
  local ml = require "moonloop"
  local name = ...
  local peer
  ml.parent:on("message", function(message, reply)
    if message.peer then
      peer = message.peer
      assert(peer:is_valid() and tostring(peer):find "remote port", tostring(peer))
      assert(message.again == peer)
      reply(true)
    elseif message.relay then
      local answer, text, code = peer:request { text = message.relay .. name }
      reply(answer or code)
    elseif message.text then
      reply(message.text .. "!" .. name)
    elseif message.back then
      reply(message.back)
    elseif message.give then
      reply { port = ml.parent }
    end
  end)
]]
local a = assert(ml.worker { name = "a", source = source, args = "a" })
local b = assert(ml.worker { name = "b", source = source, args = "b" })
local own = loop:port { name = "own" }
own:on("message", function(message, reply) reply("own " .. tostring(message)) end)
loop:task(function()
  -- Two workers talk to each other, without their owner.
  assert(a.port:request { peer = b.port, again = b.port })
  assert(b.port:request { peer = a.port, again = a.port })
  assert(a.port:request { relay = "x" } == "xa!b")
  assert(b.port:request { relay = "y" } == "yb!a")
  -- A port that comes back is the same handle.
  local back = a.port:request { back = own }
  assert(back == own and back:request(1) == "own 1")
  -- A port to the owner, made by the worker.
  local way = a.port:request({ give = true }).port
  local got
  a.port:on("message", function(message) got = message end)
  assert(way:send "to myself")
  ml.sleep(1)
  assert(got == "to myself")
  way:invalidate()
  assert(not way:is_valid() and select(3, way:send(1)) == "EPIPE")
  -- A port that has ended cannot be sent, and using one says so.
  b:stop()
  b:await()
  assert(a.port:request { relay = "z" } == "EPIPE")
  local ok, message = pcall(own.send, own, { port = b.port })
  assert(not ok and message:find "message.port is a port that has ended", message)
  a:stop()
  own:invalidate()
end)
assert(loop:run() == "finished")
