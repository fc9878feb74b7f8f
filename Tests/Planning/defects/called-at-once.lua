-- Planted: calls where functions belong.
local ml = require "moonloop"
local loop = ml.current()
local function tick() io.write "tick" end
local function make(text) return function() print(text) end end
loop:after(1, print "x")
loop:every(2, tick())
loop:timer { every = 3, string.format("%d", 3) }
loop:after(4, loop:stop())
local beat = loop:every(5, tick)
loop:after(6, beat:invalidate())
loop:task({ name = "t" }, ml.sleep(1))
-- Not mistakes: what is called may return a function, or it is no handler.
loop:after(1, make "x")
loop:after(math.random(), tick)
loop:perform(tick, os.time())
