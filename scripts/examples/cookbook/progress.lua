-- Show a progress bar
-- The bar is a timer of its own: drawn ten times a second at most, whatever the speed of the work.
-- If standard error is not a terminal, there is one line at the end.
--
--   moonloop run progress.lua
local ml = require "moonloop"
local loop = ml.current()

local shows = ml.tty.is_tty(2)
local done, total, width = 0, 250, 40

local function draw()
  local full = done * width // total
  io.stderr:write(("\r[%s%s] %3d %%"):format(("█"):rep(full), ("·"):rep(width - full),
    done * 100 // total))
end

local bar = loop:every(0.1, function() if shows then draw() end end)

loop:task(function()
  for _ = 1, total do
    ml.sleep(0.01)                       -- a part of the work
    done = done + 1
  end
  bar:invalidate()
  if shows then draw() io.stderr:write "\n" end
  print(("%d parts done"):format(done))
end)
