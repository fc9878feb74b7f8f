-- W3a, W3b: one custom source, or a hundred, whose handlers signal them again.
local ml, bench = require "moonloop", require "harness"
local loop, sources = ml.current(), tonumber(arg[1])
local performed, last = 0, bench.scaled(3e6)

local function perform(source)
  performed = performed + 1
  if performed == last then bench.stop(performed); os.exit(0) end
  source:signal()
end

for _ = 1, sources do
  local source = ml.source { perform = perform }
  loop:add(source, "default")
  source:signal()
end
local idle = bench.idle_descriptor()
if idle then loop:fd { fd = idle, read = function() end } end
bench.start()
loop:run()
