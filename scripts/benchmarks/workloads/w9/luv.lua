-- W9: how late a repeating timer of 1 ms is.
local uv, bench = require "luv", require "harness"

uv.update_time()
local start = uv.hrtime()
uv.new_timer():start(1, 1, bench.lateness(start, bench.scaled(1000), function() os.exit(0) end))
uv.run()
