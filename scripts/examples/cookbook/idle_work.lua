-- Do work in the background, only while there is nothing else to do
-- A large job is cut into small parts. Each part is a call of a custom source, which comes after
-- timers and input had their turn; the source signals itself while work is left.
--
--   moonloop run --clock virtual idle_work.lua
local ml = require "moonloop"
local loop = ml.current()

local left, sum = 100000, 0
local job = loop:source { name = "sum", order = 1000,     -- behind the other sources
  perform = function(source)
    for number = left, math.max(left - 999, 1), -1 do sum = sum + number end
    left = left - 1000
    if left > 0 then
      source:signal()
      loop:wake_up()
    else
      print(("the sum is %d"):format(sum))
      source:invalidate()
    end
  end }
job:signal()

-- What must not wait for it.
loop:after(0, function() print(("a timer, with %d numbers left"):format(left)) end)
