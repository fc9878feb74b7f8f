-- W6, W16: a server that sends back what comes.
local eco, socket = require "eco", require "eco.socket"

local port = tonumber(os.getenv "BENCH_PORT")
local options = { reuseaddr = true, tcp_nodelay = true, backlog = 1024 }
local server = assert(socket.listen_tcp("127.0.0.1", port, options))
while true do
  local client = assert(server:accept())
  eco.run(function()
    while true do
      local data = client:read(65536)
      if not data then break end
      client:send(data)
    end
    client:close()
  end)
end
