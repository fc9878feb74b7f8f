-- Planted: items that ml makes and that are never added to a loop.
local ml = require "moonloop"
local loop = ml.current()
ml.timer { every = 1, function() print "never" end }
local work = ml.source { perform = function() print "never" end }
work:signal()
local seen <close> = ml.observer { on = "exit", function() print "never" end }
local added, kept = ml.timer { first = 1, function() print "once" end }, {}
loop:add(added, "default")
kept.timer = ml.timer { first = 1, function() print "by hand" end }
kept.timer:fire()
local by_hand = ml.timer { first = 1, function() print "by hand" end }
by_hand:fire()
local function add(item) loop:add(item) end
local passed = ml.timer { first = 2, function() print "once" end }
add(passed)
