-- All signalled sources are performed in one pass, by order, then by signal (R42); only one when
-- the run returns after a source (R43).
local ml = require "moonloop"
local loop = ml.current()
local trace, sources = {}, {}
for i, order in ipairs { 5, -1, 5, 0 } do
  sources[i] = loop:source { order = order, function(source) trace[#trace + 1] = i end }
  assert(sources[i].order == order)
end
for i = 4, 1, -1 do sources[i]:signal() end
assert(loop:run { until_handled = true } == "handled_source")
assert(table.concat(trace) == "2")
assert(loop:run { timeout = 0 } == "handled_source" or true)
assert(table.concat(trace) == "2431", table.concat(trace))
for _, source in ipairs(sources) do source:invalidate() end
