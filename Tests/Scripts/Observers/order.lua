-- Called by order, then by adding (R32); skipped while its own handler waits (D59).
local ml = require "moonloop"
local loop = ml.current()
local trace = {}
local a = loop:observer { on = "entry", order = 5, function() trace[#trace + 1] = "a" end }
local b = loop:observer { on = "entry", order = -5, function() trace[#trace + 1] = "b" end }
local c = loop:observer { on = { "entry", "exit" }, order = 5, function(o, activity)
  trace[#trace + 1] = "c"
  if activity == "entry" then ml.sleep(5) end
end }
loop:after(1, function() end)
loop:run { timeout = 2 }
assert(table.concat(trace) == "bac", table.concat(trace))
a:invalidate() b:invalidate() c:invalidate()
loop:run()
