-- A race that a plain run does not find: which of two ready sources comes first is not specified.
local ml = require "moonloop"

local function settle(loop)
  local account = 0
  local open = loop:source { name = "open", perform = function() account = 100 end }
  local pay = loop:source { name = "pay", perform = function() account = account - 30 end }
  open:signal()
  pay:signal()
  ml.sleep(0)
  open:invalidate()
  pay:invalidate()
  return account
end

it("settles", function(loop) assert.equal(70, settle(loop)) end)

it("settles in any order", { orders = 50, seed = 1 }, function(loop)
  assert.equal(70, settle(loop))
end)

it("keeps what is promised in any order", { orders = 50 }, function(loop)
  local log = {}
  local function add(name) return function() log[#log + 1] = name end end
  loop:after(0, add "timer 1")
  loop:after(0, add "timer 2")
  loop:perform(add "block 1")
  loop:perform(add "block 2")
  ml.sleep(0.001)
  assert.same({ "block 1", "block 2", "timer 1", "timer 2" }, log)
end)
