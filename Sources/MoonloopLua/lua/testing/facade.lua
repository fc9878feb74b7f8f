-- `require "busted"` in a spec or helper: busted's functions under their own names.
local bed = require "moonloop.testing.bed"
local ml = require "moonloop"
local bus = require "moonloop.testing.bus"
local environment = require "moonloop.testing.environment"
local failure = require "moonloop.testing.failure"

local facade = {}

--- Gives a function (or anything callable) one more global.
local function bind(callable, name, value)
  local fn = (debug.getmetatable(callable) or {}).__call or callable
  for index = 1, 255 do
    local upvalue, globals = debug.getupvalue(fn, index)
    if not upvalue then return end
    if upvalue == "_ENV" then
      local own = setmetatable({ [name] = value }, { __index = globals })
      debug.upvaluejoin(fn, index, function() return own end, 1)
      return
    end
  end
end

--- Makes the result of `require "busted"`.
-- @param words the words by name, luassert's included
function facade.new(words)
  local api = {
    publish = bus.publish, subscribe = bus.subscribe, unsubscribe = bus.unsubscribe,
    bindfenv = bind, fail = failure.fail,
    gettime = os.time, monotime = bed.monotonic, sleep = ml.sleep,
    parent = function(node) return node.parent end,
    children = function(node) return node.children end,
    context = { get = environment.current },
    version = "2.2.0",
  }
  for name, word in pairs(words) do
    if name ~= "randomize" then api[name] = word end
  end
  return setmetatable({}, {
    __index = api,
    __newindex = function() error("Attempt to modify busted", 2) end,
    __call = function(self) return self end,
  })
end

return facade
