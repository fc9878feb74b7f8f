-- W12: a small page, asked for again and again on connections that are kept.
local ml, bench = require "moonloop", require "harness"

assert(ml.http.serve { host = "127.0.0.1", port = bench.port, function() return bench.page end })
ml.current():run()
