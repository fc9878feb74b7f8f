-- W6, W16 in handlers of events, as an NSStream's delegate has them, instead of tasks.
local ml, bench = require "moonloop", require "harness"

assert(ml.net.listen { host = "127.0.0.1", port = bench.port, function(stream)
  stream:on(function(_, event)
    if event == "has_bytes" then stream:write(stream:read_some())
    elseif event == "end" or event == "error" then stream:close() end
  end)
end })
ml.current():run()
