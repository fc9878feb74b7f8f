-- W7: bytes of private memory for a TCP connection that has said one thing and is idle, served by a
-- task.
local ml, bench = require "moonloop", require "harness"
local loop, serve = ml.current(), nil

local server = assert(ml.net.listen { host = "127.0.0.1", port = 0,
  function(stream) serve(stream) end })
bench.connections(server.port, function(heard, finish)
  function serve(stream)
    for data in function() return stream:read_some() end do
      stream:write(data)
      heard(#data)
    end
  end
  return function() loop:after(0.3, finish) end
end)
loop:run()
