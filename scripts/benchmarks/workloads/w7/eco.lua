-- W7: bytes of private memory for a sleeping task.
local eco, time, bench = require "eco", require "eco.time", require "harness"
local count = tonumber(arg[2])

local function nap() time.sleep(1000) end
bench.memory(count, function()
  for _ = 1, count do eco.run(nap) end
end, function(measure)
  time.sleep(0.1)
  measure()
  os.exit(0)
end)
