-- Properties, and what comes in the end.
local ml = require "moonloop"

local function failing(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return tostring(message)
end

describe("a property", function()
  it("that holds is tried with a hundred values", function(_, _, t)
    local calls, sum = 0, 0
    t:forall({ t.any.integer(-5, 5), t.any.string(3, "ab"), t.any.boolean() }, function(a, text)
      calls, sum = calls + 1, sum + a
      assert.is_true(a >= -5 and a <= 5 and #text <= 3 and not text:find "[^ab]")
    end)
    assert.equal(100, calls)
    assert.not_equal(0, sum)
  end)

  it("that does not is shown by its simplest value, and how to see that again", function(_, _, t)
    local function is_short(list) assert(#list < 3, "too long") end
    local makers = { t.any.list(t.any.integer()) }
    local message = failing(t.forall, t, makers, is_short)
    assert.matches("does not hold for {\n  0,\n  0,\n  0,\n}", message, 1, true)
    assert.matches("too long", message, 1, true)
    local seed = message:match "%-%-seed (%d+)$"
    local again = failing(t.forall, t, makers, is_short, { seed = tonumber(seed), runs = 1 })
    assert.equal(message:match "hold for (.-)\n  in", again:match "hold for (.-)\n  in")
  end)

  it("is made simpler across what makes its values", function(_, _, t)
    local maker = t.any.table { name = t.any.one_of { "a", "b", t.any.integer(7, 9) },
      size = t.any.map(t.any.integer(0, 1000), function(n) return n * 2 end) }
    local message = failing(t.forall, t, { maker }, function(one) return one.size < 100 end)
    assert.matches('{\n  name = "a",\n  size = 100,\n}', message, 1, true)
    assert.matches("it returned false", message, 1, true)
  end)

  it("is made simpler by bisecting, however large its numbers are", function(_, _, t)
    local message = failing(t.forall, t, { t.any.integer(0, 1000000) },
      function(a) return a < 500000 end)
    assert.matches("does not hold for 500000\n", message, 1, true)
    local small = failing(t.forall, t, { t.any.integer(math.mininteger // 2, 0) },
      function(a) return a > -(1 << 60) end)
    assert.matches(("does not hold for %d\n"):format(-(1 << 60)), small, 1, true)
  end)

  it("that does not hold shows what an assertion compared", function(_, _, t)
    local message = failing(t.forall, t, { t.any.integer(0, 9) },
      function(n) assert.equal(0, n) end)
    assert.matches("equal.\n    expected: 0\n    actual:   1\n  in case", message, 1, true)
  end)

  it("may wait", { clock = "virtual" }, function(loop, _, t)
    local ml = require "moonloop"
    local begin = ml.now()
    t:forall({ t.any.number(1, 2) }, function(seconds) ml.sleep(seconds) end, { runs = 10 })
    assert.is_true(ml.now() - begin >= 10)
  end)

  it("wants what makes values, and options that exist", function(_, _, t)
    assert.matches("must hold makers of values", failing(t.forall, t, { 5 }, print))
    assert.matches("needs a list with a maker", failing(t.forall, t, t.any.integer(), print))
    assert.matches("unknown option 'run'",
      failing(t.forall, t, { t.any.boolean() }, print, { run = 5 }))
    assert.matches("two whole numbers", failing(t.any.integer, 2, 1))
  end)
end)

describe("the values of a property", function()
  it("is tried with sizes up to the largest, and that itself", function(_, _, t)
    local longest, is_full = 0, false
    t:forall({ t.any.string(5000), t.any.list(t.any.boolean(), 60) }, function(text, list)
      longest, is_full = math.max(longest, #text), is_full or #list == 60
    end)
    assert.equal(5000, longest)
    assert.is_true(is_full)
    local message = failing(t.forall, t, { t.any.string(5000) }, function(s) return #s < 256 end)
    assert.matches(('does not hold for "%s"\n'):format(("a"):rep(256)), message, 1, true)
    assert.matches("largest size must be a whole number >= 0, got %-1", failing(t.any.string, -1))
  end)

  it("is tried with all whole numbers, if they are asked for", function(_, _, t)
    local least, most = 0, 0
    local any = t.any.integer(math.mininteger, math.maxinteger)
    t:forall({ any, t.any.integer(math.mininteger, 0), t.any.integer(-1, math.maxinteger) },
      function(a, b, c)
        least, most = math.min(least, a), math.max(most, a)
        assert.is_true(b <= 0 and c >= -1)
      end)
    assert.equal(math.mininteger, least)
    assert.equal(math.maxinteger, most)
    local message = failing(t.forall, t, { any }, function(a) return a > math.mininteger end)
    assert.matches(("does not hold for %d\n"):format(math.mininteger), message, 1, true)
  end)

  it("takes an alphabet as characters", function(_, _, t)
    t:forall({ t.any.string(4, "aü€") }, function(text)
      assert.is_true(utf8.len(text) <= 4)
      assert.equal("", (text:gsub("ü", ""):gsub("€", ""):gsub("a", "")))
    end)
    assert.matches("the alphabet must be a string", failing(t.any.string, 4, ""))
  end)

  it("have makers that exist", function(_, _, t)
    assert.matches("t.any: unknown field 'int' .-; there are boolean, integer,",
      failing(function() t.any.int() end))
  end)
end)

describe("a property among others", function()
  local function none(n) error("none holds for " .. n, 0) end

  it("fails inside another one", function(_, _, t)
    local message = failing(t.forall, t, { t.any.integer(1, 3) }, function()
      t:forall({ t.any.integer(5, 9) }, none)
    end)
    assert.matches("not hold for 1\n.*not hold for 5\n +none holds for 5\n", message)
  end)

  it("is not blamed for what another one finds meanwhile", { clock = "virtual" },
    function(loop, _, t)
      local other = loop:task(function()
        return failing(t.forall, t, { t.any.integer(5, 9) }, function(n) ml.sleep(1) none(n) end)
      end)
      t:forall({ t.any.integer(0, 9) }, function() ml.sleep(1) end)
      assert.matches("does not hold for 5\n", other:await(), 1, true)
    end)

  it("ends when its task is cancelled", { clock = "virtual" }, function(_, _, t)
    local result, _, code = ml.timeout(20, function()
      t:forall({ t.any.integer() }, function() ml.sleep(3) end)
    end)
    assert.is_nil(result)
    assert.equal("ETIMEDOUT", code)
  end)
end)

describe("a case of a property", function()
  it("fails where a task or a handler of it fails", { clock = "virtual" }, function(loop, _, t)
    local makers = { t.any.integer(0, 1000) }
    local function check(a) assert(a < 500, "too large") end
    for _, property in ipairs {
      function(a) loop:task(function() check(a) end) end,
      function(a) loop:task(function()
        ml.sleep(10)
        check(a)
      end) end,
      function(a) loop:task({ owner = "none" }, function() check(a) end) end,
      function(a) loop:after(0, function() check(a) end) end,
      function(a)
        loop:perform(function() check(a) end)
        return a < 900
      end,
    } do
      local message = failing(t.forall, t, makers, property)
      assert.matches("does not hold for 500\n", message, 1, true)
      assert.matches("too large", message, 1, true)
    end
    t:forall(makers, function(a) loop:task(function() assert(a < 1001) end) end)
  end)
end)

describe("eventually", function()
  it("gives what the function returns once it raises nothing", { clock = "virtual" },
    function(loop, _, t)
      local ticks = 0
      loop:timer { every = 1, function(timer)
        ticks = ticks + 1
        if ticks == 3 then timer:invalidate() end
      end }
      assert.equal(3, t:eventually(function()
        assert.equal(3, ticks)
        return ticks
      end))
    end)

  it("says what it waited for, how long, and the last failure", { clock = "virtual" },
    function(_, _, t)
      local function never() error("not yet", 0) end
      local place = "properties_spec.lua:" .. debug.getinfo(never, "S").linedefined
      assert.matches("t:eventually: after 2 s the function at .*" .. place
        .. " still failed: not yet", failing(t.eventually, t, never, 2))
      assert.matches("still returned false", failing(t.eventually, t, function() return false end))
      assert.matches("had not returned", failing(t.eventually, t, function() ml.sleep(9) end))
      assert.matches("takes a function, got nil", failing(t.eventually, t))
    end)
end)
