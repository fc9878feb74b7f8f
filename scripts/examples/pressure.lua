-- Takes less work while memory is short: reports how long tasks had to wait for it.
--
--   moonloop run scripts/examples/pressure.lua [FILE]     e.g. a control group's memory.pressure
local ml = require "moonloop"
local loop = ml.current()

local quiet  -- the timer that resumes work after a while without pressure
local function relax()
  quiet = nil
  print("memory: enough again")
end

assert(loop:pressure { resource = "memory", stall = 0.1, window = 2, file = arg[1],
  function(_, figures)
    if not quiet then print(("memory: short, %.1f %%"):format(figures.avg10 or 0)) end
    if quiet then quiet:invalidate() end
    quiet = loop:after(4, relax)
    quiet:keep_alive(false)
  end })
loop:signal({ "int", "term" }, function() loop:stop() end)
