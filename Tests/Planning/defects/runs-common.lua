-- Planted: a run in the pseudo-mode.
local ml = require "moonloop"
local loop = ml.current()
loop:timer { first = 1, modes = "common", function() print "once" end }
loop:run { mode = "common" }
