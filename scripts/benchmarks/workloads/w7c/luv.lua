-- W7: bytes of private memory for a TCP connection that has said one thing and is idle.
local uv, bench = require "luv", require "harness"

local server = uv.new_tcp()
server:bind("127.0.0.1", 0)
bench.connections(server:getsockname().port, function(heard, finish)
  server:listen(1024, function()
    local client = uv.new_tcp()
    server:accept(client)
    client:nodelay(true)
    client:read_start(function(_, data)
      if not data then return client:close() end
      client:write(data)
      heard(#data)
    end)
  end)
  return function() uv.new_timer():start(300, 0, finish) end
end)
uv.run()
