-- W4b: another thread sends as fast as it can; sends that come together are one.
local uv, bench = require "luv", require "harness"
local count = bench.scaled(1e7)

local async = uv.new_async(function(last) if last then bench.stop(count); os.exit(0) end end)
bench.start()
uv.new_thread(function(handle, count)
  for _ = 2, count do handle:send() end
  require "luv".sleep(20)  -- for this one not to be one with the others
  handle:send(true)
end, async, count)
uv.run()
