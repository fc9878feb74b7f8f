-- W11: what a call from a script into the host costs.
local floor, bench = require "floor", require "harness"
local nothing, now, add = floor.nothing, floor.now, floor.add
local timer = floor.object_after(1000, function() end)

bench.calls {
  nothing = function(n) for _ = 1, n do nothing() end end,
  now = function(n) for _ = 1, n do now() end end,
  add = function(n) for i = 1, n do add(i, 1) end end,
  method = function(n) for _ = 1, n do timer:is_valid() end end,
}
