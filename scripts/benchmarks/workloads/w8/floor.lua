-- W8: a timer says hello, and the program is over.
local floor = require "floor"
floor.after(0, function() print "hello" end)
floor.run()
