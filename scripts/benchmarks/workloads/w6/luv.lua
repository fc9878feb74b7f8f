-- W6: a server that sends back what comes, 64 bytes at a time.
local uv, bench = require "luv", require "harness"
local count = bench.echoes(tonumber(arg[1]))

local server = uv.new_tcp()
server:bind("127.0.0.1", 0)
server:listen(1024, function()
  local client = uv.new_tcp()
  server:accept(client)
  client:nodelay(true)
  client:read_start(function(_, data)
    if not data then return end
    client:write(data)
    count()
  end)
end)
bench.probe.clients(server:getsockname().port, tonumber(arg[1]))
uv.run()
