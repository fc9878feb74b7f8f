-- W1b, W1c: one chain, or a hundred, of zero-delay one-shots that arm themselves again.
local ml, bench = require "moonloop", require "harness"
local loop, chains = ml.current(), tonumber(arg[1])
local fires, last = 0, bench.scaled(3e6)

local function fire(timer)
  fires = fires + 1
  if fires < last then timer:again(0) elseif fires == last then bench.stop(fires); os.exit(0) end
end

for _ = 1, chains do loop:after(0, fire) end
local idle = bench.idle_descriptor()
if idle then loop:fd { fd = idle, read = function() end } end
bench.start()
loop:run()
