-- A perform request counts as a source (R111, R13), a block does not (R110).
local ml = require "moonloop"
local loop = ml.current()
local keep = loop:every(1000, print)
loop:perform(function() end)
assert(loop:run { timeout = 1, until_handled = true } == "timed_out")
loop:perform({ as_source = true }, function() end)
assert(loop:run { timeout = 1, until_handled = true } == "handled_source")
-- Without a wake-up, a block queued before the sleep waits until the sleep ends (R107).
local at
local observer = loop:observer { on = "before_waiting", repeats = false, function()
  loop:perform({ wake = false }, function() at = ml.now() end)
end }
local start = ml.now()
loop:after(2, function() end)
loop:run { timeout = 5 }
assert(at - start >= 2, at - start)
keep:invalidate()
