-- W11: what a call from a script into the host costs.
local ml, bench = require "moonloop", require "harness"
local loop = ml.current()
local now, exact, timer = loop.now, ml.now, loop:after(1000, function() end)

local calls = {
  now = function(n) for _ = 1, n do now(loop) end end,
  exact = function(n) for _ = 1, n do exact() end end,
  method = function(n) for _ = 1, n do timer:is_valid() end end,
}
local nothing, add = _G.nothing, _G.add
if add then  -- A Swift program that embeds us has registered these two.
  calls.nothing = function(n) for _ = 1, n do nothing() end end
  calls.add = function(n) for i = 1, n do add(i, 1) end end
end
loop:after(0, function()  -- as handlers do: in a pass
  bench.calls(calls)
  os.exit(0)
end)
loop:run()
