-- Call an API that allows only so many requests per second
-- A token bucket: a semaphore has the permits, and each one is given back a while after it was
-- taken, not when the request is over. Callers wait in the order in which they came.
--
--   moonloop run --clock virtual rate_limit.lua
local ml = require "moonloop"
local loop = ml.current()

local function limited(count, seconds, call)
  local tokens = ml.semaphore(count)
  return function(...)
    tokens:acquire()
    loop:after(seconds, function() tokens:release() end)
    return call(...)
  end
end

local began = ml.now()
local request = limited(2, 1, function(number)   -- two requests a second
  print(("%.1f s  request %d"):format(ml.now() - began, number))
  ml.sleep(0.1)
end)

loop:task(function(scope)
  for number = 1, 7 do scope:task(request, number) end
end)
