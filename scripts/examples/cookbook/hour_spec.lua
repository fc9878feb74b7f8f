-- Test what takes an hour in a millisecond
-- The test has a clock of its own, which stands still until the test moves it.
--
--   moonloop test hour_spec.lua
local ml = require "moonloop"

-- What is tested: a session that ends after an hour without a call of `touch`.
local function session(loop)
  local open = { is_open = true }
  local timer = loop:after(3600, function() open.is_open = false end)
  function open.touch() timer:again(3600) end
  return open
end

describe("a session", { clock = "virtual" }, function()
  it("ends after an hour", function(loop, clock)
    local user = session(loop)
    clock:advance(3599)
    assert.is_true(user.is_open)
    clock:advance(1)
    assert.is_false(user.is_open)
  end)

  it("is kept by a touch", function(loop, clock)
    local user, start = session(loop), ml.now()
    clock:advance(3000)
    user.touch()
    clock:advance(3000)
    assert.is_true(user.is_open)
    clock:advance(600)
    assert.is_false(user.is_open)
    assert.equal(6600, ml.now() - start)
  end)
end)
