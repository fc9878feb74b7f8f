-- Run something every day at 03:00
-- A schedule in cron's format. It follows the wall clock, including changes to summer time and
-- clocks that are set by hand.
--
--   moonloop run --clock virtual daily.lua          a week at once
local ml = require "moonloop"
local loop = ml.current()

local nights = 0
loop:cron { "0 3 * * *", zone = "UTC", name = "clean up", function(timer, missed)
  nights = nights + 1
  print(("night %d, %s, %d missed"):format(nights, os.date "!%H:%M", missed))
  if nights == 7 then timer:invalidate() end      -- leave this out in a program that goes on
end }
