-- Planted: a zero interval, and a function that queues itself again at once.
local ml = require "moonloop"
local loop = ml.current()
loop:every(0, function() print "never made" end)
local function poll()
  if not os.rename("wanted", "found") then loop:after(0, poll) end
end
poll()
