-- W6: a server that sends back what comes.
local ml, bench = require "moonloop", require "harness"
local count, start_clients = bench.echoes()

local server = assert(ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
  for data in function() return stream:read_some() end do
    stream:write(data)
    count(#data)
  end
end })
start_clients(server.port)
ml.current():run()
