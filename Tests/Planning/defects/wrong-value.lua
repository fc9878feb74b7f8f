-- Planted: values of the wrong kind, and words that are none of those that are taken.
local ml = require "moonloop"
local loop = ml.current()
local function tick() end
loop:after(print, 1)
loop:after(function() end, 1)
loop:every("soon", tick)
loop:observer { on = "before_wait", tick }
loop:observer { on = { "entry", "exti" }, tick }
loop:timer { every = true, handler = tick }
ml.timer { first = 1, 2 }
-- Not mistakes: as they should be, or computed.
local delay, print_it = 1, print
loop:after(delay, print_it)
loop:every("1", tick)
loop:observer { on = "before_" .. "waiting", tick }
loop:observer { on = { "entry", "exit" }, tick }
loop:signal({ "int", "term" }, tick)
loop:timer { first = -1, every = 2, tick, name = 3 }
