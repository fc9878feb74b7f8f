-- Planted: a timer in a mode that nothing runs.
local ml = require "moonloop"
local loop = ml.current()
loop:timer { every = 1, modes = "tracking", function(timer) timer:invalidate() end }
loop:run { mode = "tracing" }
