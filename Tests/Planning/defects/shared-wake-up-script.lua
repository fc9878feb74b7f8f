-- Planted: the same in a script.
local ml = require "moonloop"
local loop = ml.current()
loop:every(0.5, function() print "a" end)
loop:every(0.5, function() print "b" end)
loop:timer { every = 0.5, tolerance = 0.05, function() print "c" end }
