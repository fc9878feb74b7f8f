-- All words of a spec file, and the order in which what they define runs.
local log = {}
local function note(text)
  return function() log[#log + 1] = text end
end

setup(note "file setup")
teardown(function()
  print(table.concat(log, ", "))
end)

describe("outer", function()
  setup(note "setup")
  lazy_setup(note "lazy setup")
  before_each(note "before")
  after_each(note "after")
  lazy_teardown(note "lazy teardown")
  teardown(note "teardown")

  it("one", note "one")

  context("inner", function()
    before_each(note "inner before")
    after_each(note "inner after")
    spec("two", function()
      finally(note "finally")
      log[#log + 1] = "two"
    end)
    test "three" (note "three")
  end)

  insulate("without tests", function()
    lazy_setup(note "never")
    strict_setup(note "strict setup")
    strict_teardown(note "strict teardown")
  end)
end)

pending "to be written"
pending("with a body that does not run", note "never")
it("is given up", function() pending "no network here" end)

describe("words where they do not belong", function()
  it("are refused with their names", function()
    assert.has_error(describe, "'describe' not supported inside current context block")
    assert.has_error(before_each, "'before_each' not supported inside current context block")
    assert.has_error(randomize, "'randomize' not supported inside current context block")
  end)
end)

it("has luassert's words", function()
  local s = spy.new(function() end)
  s(1)
  assert.spy(s).was_called_with(match.is_number())
  local t = { f = function() return 1 end }
  stub(t, "f").returns(2)
  assert.equal(2, t.f())
  assert.is_true(true)
end)
