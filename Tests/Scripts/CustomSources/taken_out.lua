-- Removed by an earlier source of the pass: still performed this once. Invalidated: not (R45).
local ml = require "moonloop"
local loop = ml.current()
local trace = {}
local removed, ended
local first = loop:source { order = 1, function()
  trace[#trace + 1] = "first"
  loop:remove(removed)
  ended:invalidate()
end }
removed = loop:source { order = 2, function() trace[#trace + 1] = "removed" end }
ended = loop:source { order = 3, function() trace[#trace + 1] = "ended" end }
for _, source in ipairs { first, removed, ended } do source:signal() end
loop:run { timeout = 0 }
assert(table.concat(trace, " ") == "first removed", table.concat(trace, " "))
first:invalidate()
