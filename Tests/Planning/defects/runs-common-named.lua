-- Planted: the name of the mode alone, instead of a table of options.
local ml = require "moonloop"
local loop = ml.current()
loop:timer { first = 1, modes = "trackng", function() loop:run("default") end }
loop:timer { first = 1, modes = "common", function() print "once" end }
loop:run "default"
loop:run("common")
