-- W8: a timer says hello, and the program is over.
local uv = require "luv"
local timer = uv.new_timer()
timer:start(0, 0, function() print "hello"; timer:close() end)
uv.run()
