-- Planted: the same in a script.
local ml = require "moonloop"
local loop = ml.current()
loop:every(0.5, function() print "a" end)
loop:every(0.5, function() print "b" end)
loop:timer { every = 0.5, first = 0.2, function() print "c" end }
loop:timer { every = 0.5, first = 0.4, tolerance = 0.1, function() print "d" end }
loop:timer { every = 0.5, first = ml.now() % 0.5, function() print "e" end }
