-- W6: a server that sends back what comes.
local cqueues, socket, bench = require "cqueues", require "cqueues.socket", require "harness"
local queue = cqueues.new()

local server = socket.listen { host = "127.0.0.1", port = bench.port }
queue:wrap(function()
  while true do
    local client = server:accept { nodelay = true }
    queue:wrap(function()
      client:setmode("b", "bn")
      for data in function() return client:read(-65536) end do client:write(data) end
      client:close()
    end)
  end
end)
assert(queue:loop())
