-- W6, W16: a server that sends back what comes.
local ml, bench = require "moonloop", require "harness"

assert(ml.net.listen { host = "127.0.0.1", port = bench.port, function(stream)
  for data in function() return stream:read_some() end do stream:write(data) end
end })
ml.current():run()
