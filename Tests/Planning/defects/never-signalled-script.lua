-- Planted: the same in a script.
local ml = require "moonloop"
local queue = {}
local source = ml.source { name = "commands", perform = function() queue = {} end }
ml.current():add(source, "default")
