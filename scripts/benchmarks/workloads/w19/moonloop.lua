-- W19: servers on one port, each a worker, whose handlers compute for about a millisecond.
local ml, bench = require "moonloop", require "harness"

local workers = assert(ml.workers(tonumber(os.getenv "BENCH_WORKERS" or 2), {
  args = bench.port, source = [[
    local ml = require "moonloop"
    assert(ml.http.serve { host = "127.0.0.1", port = ..., reuse_port = true, function()
      local sum = 0
      for number = 1, 100000 do sum = (sum * 31 + number) % 4294967296 end
      return "Hello, world!"
    end })
  ]] }))
workers:await()
