-- W6: a server that sends back what comes, 64 bytes at a time.
local ml, bench = require "moonloop", require "harness"
local count = bench.echoes(tonumber(arg[1]))

local server = assert(ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
  for data in function() return stream:read_some() end do
    stream:write(data)
    count()
  end
end })
bench.probe.clients(server.port, tonumber(arg[1]))
ml.current():run()
