-- Forward TCP connections to another address
-- Bytes go both ways through the kernel where it can (`splice`); each side's end is passed on.
--
--   moonloop run proxy.lua 8000 example.org 80
local ml = require "moonloop"
local loop = ml.current()

local port, host, target = tonumber(arg[1]), arg[2], tonumber(arg[3])
assert(port and host and target, "name a port, a host and its port")

local function pass(from, to)
  from:copy_to(to)
  to:shutdown()                          -- the other side reads the end, and may go on writing
end

local server = assert(ml.net.listen { host = "127.0.0.1", port = port, name = "proxy",
  max_connections = 200, timeout = 300, function(client)
    local upstream <close>, why = ml.net.connect { host = host, port = target, timeout = 5 }
    if not upstream then print(why) return end
    local back <close> = loop:task(pass, upstream, client)
    pass(client, upstream)
    back:await()
    print(("%d bytes there, %d back"):format(client.bytes_read, client.bytes_written))
    io.flush()
  end })
print("port " .. server.port)
loop:signal({ "int", "term" }, function() loop:stop() end):keep_alive(false)
