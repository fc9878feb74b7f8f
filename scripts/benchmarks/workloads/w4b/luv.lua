-- W4b: another thread sends as fast as it can, in C; sends that come together are one.
local uv, bench = require "luv", require "harness"
local count = bench.scaled(1e7)

local async = uv.new_async(function()
  if bench.probe.taken() then bench.stop(count); os.exit(0) end
end)
bench.start()
bench.probe.sends(async, count)
uv.run()
