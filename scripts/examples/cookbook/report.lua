-- Write a report at the end of each working day
-- Events are counted as they come; from Monday to Friday at 18:00 a line says how many there were.
--
--   moonloop run --clock virtual report.lua         six reports at once
local ml = require "moonloop"
local loop = ml.current()

local orders, reports = 0, 0
local traffic = loop:every(20 * 60, function() orders = orders + 1 end)  -- stands for real events

loop:cron { "0 18 * * mon-fri", zone = "UTC", name = "report", function(timer)
  print(("%s  %3d orders since the last report"):format(os.date("!%a %d %b", os.time()), orders))
  orders, reports = 0, reports + 1
  if reports == 6 then
    timer:invalidate()
    traffic:invalidate()
  end
end }
