-- Planted: every second there is one more timer.
local ml = require "moonloop"
local loop = ml.current()
loop:every(1, function()
  loop:every(0.1, function() print "more and more" end)
  loop:after(0.1, function() print "ends by itself" end)
  local kept <close> = loop:every(0.2, function() print "kept" end)
  loop:every(0.3, function(timer) timer:invalidate() end)
end)
