-- W6 in handlers of events, as an NSStream's delegate has them, instead of tasks.
local ml, bench = require "moonloop", require "harness"
local count, start_clients = bench.echoes()

local server = assert(ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
  stream:on(function(_, event)
    if event ~= "has_bytes" then return end
    local data = stream:read_some()
    stream:write(data)
    count(#data)
  end)
end })
start_clients(server.port)
ml.current():run()
