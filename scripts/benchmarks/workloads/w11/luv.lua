-- W11: what a call from a script into the host costs; luv has no nothing() and no add().
local uv, bench = require "luv", require "harness"
local now, timer = uv.now, uv.new_timer()

bench.calls {
  now = function(n) for _ = 1, n do now() end end,
  method = function(n) for _ = 1, n do timer:is_active() end end,
}
