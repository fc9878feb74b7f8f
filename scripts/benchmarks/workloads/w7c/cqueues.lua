-- W7: bytes of private memory for a TCP connection that has said one thing and is idle.
local cqueues, socket, bench = require "cqueues", require "cqueues.socket", require "harness"
local queue = cqueues.new()

local server = socket.listen { host = "127.0.0.1", port = 0, nodelay = true }
server:listen()
bench.connections(select(3, server:localname()), function(heard, finish)
  queue:wrap(function()
    for client in server:clients() do
      queue:wrap(function()
        client:setmode("b", "bn")
        for data in function() return client:read(-65536) end do
          client:write(data)
          heard(#data)
        end
        client:close()
      end)
    end
  end)
  return function() queue:wrap(function() cqueues.sleep(0.3); finish() end) end
end)
assert(queue:loop())
