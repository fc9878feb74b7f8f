-- W11: what a call from a script into the host costs.
local ml, bench = require "moonloop", require "harness"
local now, timer = ml.now, ml.current():after(1000, function() end)

local calls = {
  now = function(n) for _ = 1, n do now() end end,
  method = function(n) for _ = 1, n do timer:is_valid() end end,
}
local nothing, add = _G.nothing, _G.add
if add then  -- A Swift program that embeds us has registered these two.
  calls.nothing = function(n) for _ = 1, n do nothing() end end
  calls.add = function(n) for i = 1, n do add(i, 1) end end
end
bench.calls(calls)
os.exit(0)
