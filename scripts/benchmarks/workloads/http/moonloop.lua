-- HTTP: a small page, asked for again and again on connections that are kept.
local ml, bench = require "moonloop", require "harness"
local count, start_clients = bench.requests()

local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function()
  count(1)
  return bench.page
end })
start_clients(server.port)
ml.current():run()
