-- A send waits for room for the given time, in order; so does a request (R59).
local ml = require "moonloop"
local loop = ml.current()
local port = loop:port { name = "narrow", capacity = 3 }
local got = {}
local sender = loop:task(function()
  for number = 1, 20 do assert(port:send(number, { timeout = 5 })) end
  local sent, message, code = port:send("late", { timeout = 5 })
  assert(sent == true and message == nil and code == nil)
end)
ml.sleep(1)
assert(port.waiting == 3)
port:on("message", function(message)
  got[#got + 1] = message
  ml.sleep(1)
end)
sender:await()
ml.sleep(10)
assert(#got == 21 and got[1] == 1 and got[20] == 20 and got[21] == "late", #got)
-- Nothing receives: the time runs out.
local full = loop:port { name = "full", capacity = 1 }
full:send "first"
local start = ml.now()
local sent, message, code = full:send("second", { timeout = 2 })
assert(sent == nil and code == "ETIMEDOUT" and message:find "'full' .* was full for 2 s", message)
sent, message, code = full:request("third", { send_timeout = 3, timeout = 1 })
assert(sent == nil and code == "ETIMEDOUT" and ml.now() - start == 5, message)
assert(select(3, full:request "fourth") == "EAGAIN")
-- When there is room, the time for the reply begins.
loop:after(2, function()
  full:on("message", function(message, reply)
    if message == "fifth" then ml.sleep(3); reply "after 3 s" end
  end)
end)
assert(full:request("fifth", { send_timeout = 5, timeout = 4 }) == "after 3 s")
-- The port ends while a send waits for room.
full:on("message", nil)
full:send "sixth"
loop:after(1, function() full:invalidate() end)
assert(select(3, full:send("seventh", { timeout = 60 })) == "EPIPE")
port:invalidate()
