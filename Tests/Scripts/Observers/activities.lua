-- The six activities, in the order of a run (D12).
local ml = require "moonloop"
local loop = ml.current()
local trace = {}
local all =
  { "entry", "before_timers", "before_sources", "before_waiting", "after_waiting", "exit" }
local observer = loop:observer { on = all, function(o, activity) trace[#trace + 1] = activity end }
loop:after(1, function() trace[#trace + 1] = "timer" end)
assert(loop:run() == "finished")
assert(table.concat(trace, " ") == "entry before_timers before_sources before_waiting "
  .. "after_waiting timer exit", table.concat(trace, " "))
observer:invalidate()
