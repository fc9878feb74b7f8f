-- W8: a timer says hello, and the program is over.
local ml = require "moonloop"
ml.current():after(0, function() print "hello" end)
