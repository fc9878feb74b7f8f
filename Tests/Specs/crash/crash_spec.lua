-- Ends the process in the middle of its tests.
local ml = require "moonloop"
it("runs", function() end)
it("ends the process", function() ml.process.kill(ml.process.id(), "kill") end)
it("never runs", function() end)
