-- W4b: another thread signals a source made in Swift as fast as it can, in C: a handle of a script
-- belongs to its thread. Signals that come together are one.
local ml, bench = require "moonloop", require "harness"
local count = bench.scaled(1e7)

bench.start()
burst(count, function() bench.stop(count); os.exit(0) end)
ml.current():run()
