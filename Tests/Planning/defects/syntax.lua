-- Planted: a bracket that is never closed.
local ml = require "moonloop"
ml.current():after(1, function() print "x" end
