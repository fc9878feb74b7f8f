-- Planted: yields that nothing resumes.
local ml = require "moonloop"
local loop = ml.current()
loop:task(function() coroutine.yield() end)
local function step() coroutine.yield(1) end
loop:after(1, step)
coroutine.yield()
-- Not a mistake: a coroutine of the script's own.
loop:after(2, function()
  for value in coroutine.wrap(function() coroutine.yield(1) end) do print(value) end
end)
