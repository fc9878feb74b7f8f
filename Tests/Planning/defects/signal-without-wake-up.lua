-- Planted: the loop goes to sleep, and the source with it.
local ml = require "moonloop"
local loop = ml.current()
local work = loop:source { perform = function() print "worked" end }
loop:observer { on = "before_waiting", function() work:signal() end }
loop:observer { on = "before_waiting", function()
  work:signal()
  loop:wake_up()
end }
