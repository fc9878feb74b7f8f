-- Remember results for a minute
-- Callers that ask for the same thing while it is being made wait for the one that makes it, so
-- that a slow service is asked once.
--
--   moonloop run --clock virtual cache.lua
local ml = require "moonloop"
local loop = ml.current()

local function cached(seconds, make)
  local known = {}
  return function(key)
    if not known[key] then
      known[key] = loop:task({ name = "make " .. key }, make, key)
      loop:after(seconds, function() known[key] = nil end):keep_alive(false)
    end
    return known[key]:await()
  end
end

local calls = 0
local weather = cached(60, function(town)
  calls = calls + 1
  ml.sleep(2)                            -- a slow service
  return "rain in " .. town
end)

loop:task(function(scope)
  for _ = 1, 5 do scope:task(function() assert(weather "Oslo" == "rain in Oslo") end) end
end):await()
print("5 callers, asked " .. calls .. " time")
ml.sleep(30)
weather "Oslo"
print("after half a minute: asked " .. calls .. " time")
ml.sleep(60)
weather "Oslo"
print("after the minute: asked " .. calls .. " times")
