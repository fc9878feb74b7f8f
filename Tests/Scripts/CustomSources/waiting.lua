-- A source whose handler waits stays signalled and performs once the handler has returned (D59).
local ml = require "moonloop"
local loop = ml.current()
local trace = {}
local source = loop:source { perform = function(source)
  trace[#trace + 1] = "begin"
  if #trace > 1 then return source:invalidate() end
  ml.sleep(1)
  trace[#trace + 1] = "end"
end }
source:signal()
loop:after(0.5, function() source:signal() loop:wake_up() trace[#trace + 1] = "signal" end)
assert(loop:run() == "finished")
assert(table.concat(trace, " ") == "begin signal end begin", table.concat(trace, " "))
