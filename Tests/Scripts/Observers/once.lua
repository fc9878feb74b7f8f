-- A one-shot observer is valid inside its callback, and gone afterwards, even if it waits (R34).
local ml = require "moonloop"
local loop = ml.current()
local trace = {}
local once = loop:observer { on = { "entry", "exit" }, repeats = false, function(o, activity)
  assert(o:is_valid() and not o.repeats)
  trace[#trace + 1] = activity
  ml.sleep(0.5)
  trace[#trace + 1] = "later"
end }
loop:after(1, function() end)
loop:run()
assert(not once:is_valid())
assert(table.concat(trace, " ") == "entry later", table.concat(trace, " "))
