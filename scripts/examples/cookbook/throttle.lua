-- Throttle: call a function at most once in a while, however often it is asked for
-- The first call happens at once; calls that come too soon are merged into one at the end of the
-- interval, with the last arguments.
--
--   moonloop run --clock virtual throttle.lua
local ml = require "moonloop"
local loop = ml.current()

local function throttle(interval, work)
  local resting, waiting = false, nil
  local function call(...)
    if resting then waiting = table.pack(...) return end
    resting = true
    loop:after(interval, function()
      resting = false
      local last = waiting
      waiting = nil
      if last then call(table.unpack(last, 1, last.n)) end
    end)
    work(...)
  end
  return call
end

local began = ml.now()
local draw = throttle(0.5, function(x)
  print(("%.1f s  drawn at %d"):format(ml.now() - began, x))
end)

loop:task(function()
  for x = 1, 12 do
    draw(x)
    ml.sleep(0.1)
  end
end)
