-- The loop holds what is in a mode; what is in none ends with its handle (D4).
local ml = require "moonloop"
local loop = ml.current()
local performed = 0

do
  local source = loop:source { name = "held", perform = function(source)
    performed = performed + 1
    source:invalidate()
  end }
  source:signal()
end
collectgarbage()
collectgarbage()
assert(loop:run() == "finished")
assert(performed == 1)

local weak = setmetatable({}, { __mode = "k" })
weak[ml.source { perform = print }] = true
weak[ml.observer { on = "exit", print }] = true
weak[ml.port {}] = true
collectgarbage()
collectgarbage()
assert(next(weak) == nil)

-- Removed from its modes, it belongs to the script alone again.
local source = loop:source { perform = print }
weak[source] = true
loop:remove(source)
assert(source:is_valid() and #source:modes() == 0)
source = nil
collectgarbage()
collectgarbage()
assert(next(weak) == nil)
