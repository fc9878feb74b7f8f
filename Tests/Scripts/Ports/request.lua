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

-- Why there is no reply: of this thread's own ports it is known.
local causes = loop:port { name = "causes", on_error = function() end }
causes:on("message", function(word)
  if word == "fail" then error "no luck" end
  if word == "fail late" then ml.sleep(1) error "no luck" end
  if word == "end" then causes:invalidate() end
end)
local function why(word, options)
  local _, problem, kind = causes:request(word, options)
  assert(kind == "EPIPE")
  return (problem:gsub(" %(made at Ports/request.lua:%d+%)", ""))
end
for _, options in ipairs { {}, { mode = "default" } } do
  for _, word in ipairs { "fail", "fail late" } do
    assert(why(word, options) == "no reply: the handler of port 'causes' failed")
  end
end
local collecting = loop:every(1, function() collectgarbage() end)
assert(why "let go" == "no reply: port 'causes' has dropped the request")
assert(why "end" == "no reply: port 'causes' has ended")
collecting:invalidate()
