-- W8: a coroutine that slept no time says hello, and the program is over.
local cqueues = require "cqueues"
local queue = cqueues.new()
queue:wrap(function() cqueues.sleep(0); print "hello" end)
assert(queue:loop())
