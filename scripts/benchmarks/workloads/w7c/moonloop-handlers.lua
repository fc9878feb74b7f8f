-- W7: bytes of private memory for a TCP connection that has said one thing and is idle, served by
-- handlers of events.
local ml, bench = require "moonloop", require "harness"
local loop, serve = ml.current(), nil

local server = assert(ml.net.listen { host = "127.0.0.1", port = 0,
  function(stream) stream:on(serve) end })
bench.connections(server.port, function(heard, finish)
  function serve(stream, event)
    if event == "has_bytes" then
      local data = stream:read_some()
      stream:write(data)
      heard(#data)
    elseif event == "end" or event == "error" then
      stream:close()
    end
  end
  return function() loop:after(0.3, finish) end
end)
loop:run()
