-- W17: a timer of 10 ms beside 200 MB of live data, collected as stock Lua does.
local uv, bench = require "luv", require "harness"
local tick = bench.beside_live_data(function() os.exit(0, false) end)
uv.update_time()
uv.new_timer():start(10, 10, tick)
uv.run()
