-- W4a: how long after another thread has sent to an async handle its callback runs.
local uv, bench = require "luv", require "harness"
local count = bench.scaled(3000)

local note = bench.times(count, function() os.exit(0) end)
local async = uv.new_async(function(sent) note(bench.probe.wall() - sent) end)
uv.new_thread(function(handle, path)
  package.cpath = path
  local luv, probe = require "luv", require "probe"
  while true do   -- sends that come too soon after one another are one
    luv.sleep(1)
    handle:send(probe.wall())
  end
end, async, package.cpath)
uv.run()
