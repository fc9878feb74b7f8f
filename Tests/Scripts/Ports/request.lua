-- Request and reply: a task waits; in a private mode nothing else is served meanwhile (R58, R59).
local ml = require "moonloop"
local loop = ml.current()
local ticks = 0
local ticker = loop:every(0.01, function() ticks = ticks + 1 end)
local late, silent
local port = loop:port { name = "service" }
port:on("message", function(message, reply)
  silent = reply   -- kept, because dropping it would fail the request
  if message == "now" then assert(reply "at once") end
  if message == "slow" then
    ml.sleep(0.5)
    late = { reply "too late" }
  end
end)
assert(port:request "now" == "at once")
local reply, message, code = port:request("silence", { timeout = 2 })
assert(reply == nil and message == "no reply within 2 s" and code == "ETIMEDOUT", message)
assert(ticks >= 199)
ticks = 0
table.sort({ 1, 2 }, function() assert(port:request "now" == "at once") return false end)
assert(select(3, port:request("silence", { timeout = 2, mode = "private" })) == "ETIMEDOUT")
assert(ticks == 0)
assert(select(3, port:request("slow", { timeout = 0.1 })) == "ETIMEDOUT")
assert(port:request("now", { mode = "default", timeout = 1 }) == "at once")
loop:after(1, function() loop:stop() end)
loop:run()
assert(late[1] == nil and late[3] == "EPIPE")
assert(#port:modes() == 1)
port:invalidate()
local sent, message, code = port:send(1)
assert(sent == nil and code == "EPIPE" and message:find "was invalidated at .*request.lua", message)
assert(select(3, port:request(1)) == "EPIPE")
ticker:invalidate()
