-- W6: a server that sends back what comes.
local uv, bench = require "luv", require "harness"
local count, start_clients = bench.echoes()

local server = uv.new_tcp()
server:bind("127.0.0.1", 0)
server:listen(1024, function()
  local client = uv.new_tcp()
  server:accept(client)
  client:nodelay(true)
  client:read_start(function(_, data)
    if not data then return end
    client:write(data)
    count(#data)
  end)
end)
start_clients(server:getsockname().port)
uv.run()
