-- Answer UDP packets
-- The handler gets each datagram and who sent it. `send` never waits.
--
--   moonloop run udp_echo.lua 5000          and then: echo hello | nc -u -w1 127.0.0.1 5000
local ml = require "moonloop"
local loop = ml.current()

local socket = assert(ml.net.udp { host = "127.0.0.1", port = tonumber(arg[1]) or 0, name = "echo",
  function(socket, data, peer)
    socket:send(data:upper(), peer.host, peer.port)
  end })
print("port " .. socket.port)
loop:signal({ "int", "term" }, function() loop:stop() end):keep_alive(false)
