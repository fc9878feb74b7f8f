-- A port holds a limited number of messages; they wait for a mode and for a handler (R55).
local ml = require "moonloop"
local loop = ml.current()
local port = ml.port { name = "small", capacity = 2 }
assert(port.capacity == 2 and port:send(1) and port:send(2))
local sent, message, code = port:send(3)
assert(sent == nil and code == "EAGAIN" and message:find "'small' is full: 2 messages", message)
loop:add(port)
assert(loop:run { timeout = 1 } == "timed_out" and port.waiting == 2)
local got = {}
port:on("message", function(message) got[#got + 1] = message end)
assert(loop:run { timeout = 1 } == "timed_out")
assert(table.concat(got, " ") == "1 2" and port.waiting == 0)
port:invalidate()
