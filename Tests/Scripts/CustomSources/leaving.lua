-- A 'cancel' handler that waits goes on, whichever modes the source leaves at once.
local ml = require "moonloop"
local loop = ml.current()
local trace = {}
local function source()
  return ml.source {
    cancel = function(_, _, mode) ml.sleep(0.01) trace[#trace + 1] = mode end,
    perform = function() end,
  }
end
local modes = { "default", "other", "third" }
local early = source()  -- leaves before the loop runs at all
loop:add(early, modes)
early:invalidate()
local ended, taken = source(), source()
loop:add(ended, modes)
loop:add(taken, modes)
loop:after(0.1, function() ended:invalidate() end)
loop:after(0.2, function() loop:remove(taken, modes) end)
assert(loop:run { timeout = 1 } == "finished")
local told = table.concat(trace, " ")
assert(told == ("default other third "):rep(3):sub(1, -2), told)
taken:invalidate()
