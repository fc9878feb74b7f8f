-- The first run is never over: its timer goes on, and nothing stops the loop.
local ml = require "moonloop"
local loop = ml.current()
loop:timer { every = 1, modes = "loading", function() print "still loading" end }
loop:after(2, function() print "serving" end)
loop:run { mode = "loading" }
loop:run()
