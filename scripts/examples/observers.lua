-- Observers see the stages of every pass. Here they tell busy time from idle time.
local ml = require "moonloop"
local loop = ml.current()

local busy, idle, passes = 0, 0, 0
local since = ml.now()

local function lap()
  local now = ml.now()
  local spent = now - since
  since = now
  return spent
end

-- Extreme orders, so that the time of other observers is counted as well.
loop:observer { on = "before_timers", order = -1000000, function() passes = passes + 1 end }
loop:observer { on = "before_waiting", order = 1000000, function() busy = busy + lap() end }
loop:observer { on = "after_waiting", order = -1000000, function() idle = idle + lap() end }

local function work(seconds)             -- what a slow handler looks like
  local stop = os.clock() + seconds
  while os.clock() < stop do end
end

local rounds = 0
loop:every(0.1, function(timer)
  rounds = rounds + 1
  work(0.02)
  if rounds == 10 then timer:invalidate() end
end)

loop:observer { on = "exit", function()
  busy = busy + lap()
  print(("%d passes, %d rounds of work"):format(passes, rounds))
  print(("idle %.1f s, busy %.1f s"):format(idle, busy))
end }
