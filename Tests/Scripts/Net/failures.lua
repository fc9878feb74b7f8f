-- Failures in operation are nil, message, code; wrong calls are errors.
local ml = require "moonloop"
local loop = ml.current()
local net = ml.net
local function wrong(expected, fn, ...)
  local ok, message = pcall(fn, ...)
  assert(not ok and message:find(expected), message)
end
local server = assert(net.listen { host = "127.0.0.1", port = 0, function() end })
local port = server.port
local none, message, code = net.listen { host = "127.0.0.1", port = port }
assert(not none and code == "EADDRINUSE" and message:find("listen on 127.0.0.1:" .. port, 1, true))
server:invalidate()
assert(select(3, net.listen { path = "/no/such/folder/socket" }) == "ENOENT")
assert(select(3, net.listen { host = "192.0.2.1", port = 0 }) == "EADDRNOTAVAIL")
wrong("ml.net.listen: needs 'host' and 'port', or 'path'", net.listen, { function() end })
wrong("give one", net.listen, { path = "@x", port = 1 })
wrong("'path' must have 1 to 107 bytes, got 200", net.listen, { path = ("x"):rep(200) })
wrong("'port' must be a whole number from 0 to 65535, got 70000", net.listen, { port = 70000 })
wrong("unknown option 'hots' .*did you mean 'host'", net.listen, { hots = 1 })
wrong("a listener never looks up names", net.listen, { host = "example.org", port = 1 })
wrong("needs 'host'", net.connect, { port = 1 })
wrong("'timeout' must be seconds", net.connect, { host = "::1", port = 1, timeout = -1 })
loop:task(function()
  local none, message, code = net.connect { host = "127.0.0.1", port = port, timeout = 5 }
  assert(not none and code == "ECONNREFUSED")
  assert(message:find("connect to 127.0.0.1:" .. port .. " failed: Connection refused", 1, true))
  assert(select(3, net.connect { path = "/no/such/socket" }) == "ENOENT")
  local list = { 2, 1 }
  wrong("cannot wait here: inside the comparator of table.sort", table.sort, list,
    function() return net.connect { path = "@x" } end)
end):wait()
