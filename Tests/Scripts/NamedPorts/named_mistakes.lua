-- Invalid names and unknown options are reported at the caller's line.
local ml = require "moonloop"
local function fails(expected, f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok and message:find(expected, 1, true), message)
end
fails("the name of a port is empty", ml.port.listen, "")
fails("the name of a port may contain only letters", ml.port.listen, "../x")
fails("the name of a port may contain only letters", ml.port.connect, "a/b")
fails("the name of a port begins with a dot", ml.port.listen, ".hidden")
fails("has 65 bytes; the limit is 64", ml.port.listen, ("x"):rep(65))
fails("the name must be a string", ml.port.connect, {})
fails("did you mean 'capacity'?", ml.port.listen, "a", { capcity = 1 })
fails("'capacity' must be", ml.port.listen, "a", { capacity = 0 })
fails("the handler", ml.port.connect, "a", { 1 })
-- Calling the table makes a port of this process, as usual.
local port = ml.port { name = "plain", function() end }
assert(port.name == "plain" and #port:modes() == 0)
port:invalidate()
