-- How many servers a machine with 64 cores would keep busy, in a simulation: connections that the
-- kernel spreads by a hash, or that one server hands to the one that has the fewest.
-- Run: moonloop run --clock virtual simulate.lua
local ml = require "moonloop"
local loop = ml.current()

local SERVERS, CONNECTIONS, SECONDS = 64, 1000, 2
local SERVICE, LOAD = 0.001, 0.75  -- seconds of a request, share of all cores

local function fewest(servers)
  local best = servers[1]
  for _, server in ipairs(servers) do
    if server.connections < best.connections then best = server end
  end
  return best
end

local function simulate(name, choose)
  math.randomseed(1)
  local servers, times = {}, {}
  for number = 1, SERVERS do servers[number] = { connections = 0, free_at = 0, busy = 0 } end
  local begin = ml.now()
  local finish = begin + SECONDS
  local rate = SERVERS / SERVICE * LOAD / CONNECTIONS  -- requests a second of a connection
  for _ = 1, CONNECTIONS do
    local server = choose(servers)
    server.connections = server.connections + 1
    loop:task(function()
      while true do
        ml.sleep(-math.log(1 - math.random()) / rate)
        local now = ml.now()
        if now >= finish then return end
        -- Requests wait in a queue of their server.
        server.free_at = math.max(server.free_at, now) + SERVICE
        server.busy = server.busy + SERVICE
        times[#times + 1] = server.free_at - now
      end
    end)
  end
  loop:run { timeout = SECONDS + 1 }
  table.sort(times)
  local most, busiest = 0, 0
  for _, server in ipairs(servers) do
    most, busiest = math.max(most, server.connections), math.max(busiest, server.busy)
  end
  print(("%-12s %5d requests a second, at most %d connections, busiest core %3.0f %%, "
    .. "p50 %.1f ms, p99 %.0f ms"):format(name, #times // SECONDS, most, busiest / SECONDS * 100,
    times[#times // 2] * 1000, times[#times * 99 // 100] * 1000))
end

simulate("by a hash", function(servers) return servers[math.random(SERVERS)] end)
simulate("the fewest", fewest)
