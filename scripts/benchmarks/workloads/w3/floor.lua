-- W3a, W3b: one custom source, or a hundred, whose handlers signal them again.
local floor, bench = require "floor", require "harness"
local sources, signal = tonumber(arg[1]), floor.signal
local performed, last = 0, bench.scaled(3e6)

for _ = 1, sources do
  local source
  source = floor.source(function()
    performed = performed + 1
    if performed == last then bench.stop(performed); os.exit(0) end
    signal(source)
  end)
  signal(source)
end
local idle = bench.idle_descriptor()
if idle then floor.readable(idle, function() end) end
bench.start()
floor.run()
