-- W6: a server that sends back what comes.
local cqueues, socket, bench = require "cqueues", require "cqueues.socket", require "harness"
local count, start_clients = bench.echoes()
local queue = cqueues.new()

local server = socket.listen { host = "127.0.0.1", port = 0, nodelay = true }
server:listen()
local _, _, port = server:localname()
queue:wrap(function()
  for client in server:clients() do
    queue:wrap(function()
      client:setmode("b", "bn")
      while true do
        local data = client:read(-65536)
        if not data then return end
        client:write(data)
        count(#data)
      end
    end)
  end
end)
start_clients(port)
assert(queue:loop())
