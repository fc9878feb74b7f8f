-- W3a, W3b: one custom source, or a hundred, whose handlers signal them again.
local floor, bench = require "floor", require "harness"
local sources = tonumber(arg[1])
local performed, last = 0, bench.scaled(3e6)

local function perform(source)
  performed = performed + 1
  if performed == last then bench.stop(performed); os.exit(0) end
  source:signal()
end

for _ = 1, sources do floor.object_source(perform):signal() end
local idle = bench.idle_descriptor()
if idle then floor.readable(idle, function() end) end
bench.start()
floor.run()
