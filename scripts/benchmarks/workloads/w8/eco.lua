-- W8: a coroutine that slept no time says hello, and the program is over.
local eco = require "eco"
eco.sleep(0)
print "hello"
