-- W6, W16: a server that sends back what comes.
local uv, bench = require "luv", require "harness"

local server = uv.new_tcp()
server:bind("127.0.0.1", bench.port)
server:listen(1024, function()
  local client = uv.new_tcp()
  server:accept(client)
  client:nodelay(true)
  client:read_start(function(_, data)
    if data then client:write(data) else client:close() end
  end)
end)
uv.run()
