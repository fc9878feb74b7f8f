-- W6: a server that sends back what comes, 64 bytes at a time.
local cqueues, socket, bench = require "cqueues", require "cqueues.socket", require "harness"
local count = bench.echoes(tonumber(arg[1]))
local queue = cqueues.new()

local server = socket.listen { host = "127.0.0.1", port = 0, nodelay = true }
server:listen()
local _, _, port = server:localname()
queue:wrap(function()
  for client in server:clients() do
    queue:wrap(function()
      client:setmode("b", "bn")
      while true do
        local data = client:read(-4096)
        if not data then return end
        client:write(data)
        count()
      end
    end)
  end
end)
bench.probe.clients(port, tonumber(arg[1]))
assert(queue:loop())
