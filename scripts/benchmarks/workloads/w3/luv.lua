-- W3a, W3b: one async handle, or a hundred, whose callbacks send to them again.
local uv, bench = require "luv", require "harness"
local sources = tonumber(arg[1])
local performed, last = 0, bench.scaled(5e5)

for _ = 1, sources do
  local source
  source = uv.new_async(function()
    performed = performed + 1
    if performed == last then bench.stop(performed); os.exit(0) end
    source:send()
  end)
  source:send()
end
local idle = bench.idle_descriptor()
local poll = idle and uv.new_poll(idle)
if poll then poll:start("r", function() end) end
bench.start()
uv.run()
