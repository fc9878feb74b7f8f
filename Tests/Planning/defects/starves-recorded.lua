-- Planted, seen in a recording: a handler that works longer than another's interval.
local ml = require "moonloop"
local loop = ml.current()
loop:timer { every = 0.05, name = "tick", function() end }
loop:timer { first = 0.2, name = "work", function()
  local stop = os.clock() + 0.13
  while os.clock() < stop do end
end }
