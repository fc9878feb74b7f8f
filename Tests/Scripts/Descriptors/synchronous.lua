-- A question through a private mode: nothing else is served until the answer arrives (D15).
local ml = require "moonloop"
local loop = ml.current()
local from, to = pipe()
local ticks = 0
local ticker = loop:every(0.1, function() ticks = ticks + 1 end)
local function ask()
  local reply
  local f <close> = loop:fd { fd = from, modes = "org.example.ask", read = function(fd)
    reply = fd:read "l"
    loop:stop()
  end }
  if loop:run { mode = "org.example.ask", timeout = 30 } ~= "stopped" then
    return nil, "no answer", "ETIMEDOUT"
  end
  return reply
end
assert(select(3, ask()) == "ETIMEDOUT")
write(to, "yes\n")
assert(ask() == "yes" and ticks == 0)
ticker:invalidate()
close(from) close(to)
