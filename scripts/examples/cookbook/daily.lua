-- Run something every day at 03:00
-- A schedule in cron's words. It follows the wall clock: changes to summer time are taken into
-- account, and so is a clock that somebody sets.
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
