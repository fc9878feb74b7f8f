-- W6 in handlers of events, as an NSStream's delegate has them, instead of tasks.
local ml, bench = require "moonloop", require "harness"
local count = bench.echoes(tonumber(arg[1]))

local server = assert(ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
  stream:on(function(_, event)
    if event ~= "has_bytes" then return end
    stream:write(stream:read_some())
    count()
  end)
end })
bench.probe.clients(server.port, tonumber(arg[1]))
ml.current():run()
