-- W17: a timer of 10 ms beside 200 MB of live data.
local ml, bench = require "moonloop", require "harness"
ml.current():every(0.01, bench.beside_live_data(function() os.exit(0, false) end))
ml.current():run()
