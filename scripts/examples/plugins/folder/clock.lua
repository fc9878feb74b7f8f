-- Ticks: a timer of a guest.
local ml = require "moonloop"
local ticks = 0

ml.current():every(1, function()
  ticks = ticks + 1
  host.log("tick " .. ticks)
end)

function answer() return ticks .. " ticks\n" end
