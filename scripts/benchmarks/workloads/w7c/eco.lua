-- W7: bytes of private memory for a TCP connection that has said one thing and is idle.
local eco, time, socket = require "eco", require "eco.time", require "eco.socket"
local bench = require "harness"

local server = assert(socket.listen_tcp("127.0.0.1", 0, { tcp_nodelay = true, backlog = 1024 }))
local port = assert(server:getsockname()).port
bench.connections(port, function(heard, finish)
  eco.run(function()
    while true do
      local client = assert(server:accept())
      eco.run(function()
        for data in function() return client:read(65536) end do
          client:send(data)
          heard(#data)
        end
        client:close()
      end)
    end
  end)
  return function() eco.run(function() time.sleep(0.3); finish() end) end
end)
