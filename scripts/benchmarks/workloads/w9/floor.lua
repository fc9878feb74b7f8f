-- W9: how late a repeating timer of 1 ms is.
local floor, bench = require "floor", require "harness"

floor.after(0, function()
  -- The grid begins at the loop's own date, which this handler finds again to the nanosecond.
  local start = math.tointeger(floor.now() * 1e9 // 1) or 0
  floor.every(0.001, bench.lateness(start, bench.scaled(1000), function() os.exit(0) end))
end)
floor.run()
