-- Planted: a handler that runs its loop in the default mode.
local ml = require "moonloop"
local loop = ml.current()
local function ask()
  loop:after(1, function() loop:stop() end)
  loop:run { timeout = 10 }
end
loop:after(1, ask)
loop:perform(function() loop:run() end)
loop:perform(function() loop:run { mode = "org.example.ask", timeout = 1 } end)
