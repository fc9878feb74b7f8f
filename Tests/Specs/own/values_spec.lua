-- The runner's own parts: values as text, the order by chance, options.
local discover = require "moonloop.testing.discover"
local options = require "moonloop.testing.options"
local shuffle = require "moonloop.testing.shuffle"
local values = require "moonloop.testing.values"
local parts = require "moonloop.text.values"

describe("a value", function()
  it("is text in an order that does not change", function()
    assert.equal('{\n  1,\n  [3] = true,\n  a = "x",\n  ["b c"] = {},\n  [true] = 1,\n}',
      values.format { 1, [3] = true, a = "x", ["b c"] = {}, [true] = 1 })
  end)
  it("is seen, whatever bytes it has", function()
    assert.equal([["a\n\"\\\x00é"]], values.format 'a\n"\\\0é')
    assert.equal([["\xff\xfe"]], values.format "\255\254")
    assert.equal("1.0", values.format(1.0))
    assert.equal("inf", values.format(math.huge))
  end)
  it("may hold itself", function()
    local t = { 1 }
    t.me, t.twice, t.again = t, {}, nil
    assert.equal("{\n  1,\n  me = (the table above, again),\n  twice = {},\n}", values.format(t))
  end)
  it("may be deep", function()
    local t = {}
    for _ = 1, 1000 do t = { t } end
    assert.is_true(#values.lines(t) < 100)
  end)
  it("may fail to say what it is", function()
    assert.match("whose __tostring fails",
      parts.tostring(setmetatable({}, { __tostring = function() error "no" end })))
  end)
end)

it("shuffles as the seed says", function()
  local function list() return { 1, 2, 3, 4, 5, 6, 7, 8 } end
  assert.same(shuffle.list(list(), 5), shuffle.list(list(), 5))
  assert.is_not.same(shuffle.list(list(), 5), shuffle.list(list(), 6))
  local sorted = shuffle.list(list(), 7)
  table.sort(sorted)
  assert.same(list(), sorted)
end)

describe("options", function()
  it("add lists up, and take the last of others", function()
    local made = assert(options.make({
      { "tags", "a,b" }, { "tags", "c" }, { "filter", "x,y" }, { "timeout", "5" },
      { "keep-going", false },
    }, {}))
    assert.same({ "a", "b", "c" }, made.tags)
    assert.same({ "x,y" }, made.filter)
    assert.equal(5, made.timeout)
    assert.is_false(made.keep_going)
  end)
  it("are told when they are wrong", function()
    for _, case in ipairs {
      { { "timeout", "0" }, "above 0" }, { { "seed", "x" }, "whole number" },
      { { "jobs", "-1" }, "at least 1" }, { { "clock", "fast" }, "real, virtual or skip_idle" },
      { { "config-file", "/no/such" }, "cannot read" }, { { "pattern", "[" }, "is malformed" },
    } do
      local made, message = options.make({ case[1] }, {})
      assert.is_nil(made)
      assert.match(case[2], message, 1, true)
    end
  end)
end)

it("finds files by their names, hidden ones by theirs alone", function(_, _, t)
  for _, name in ipairs { "b_spec.lua", "a_test.lua", "c.lua", "d/e_spec.lua", ".f/g_spec.lua" } do
    t:file(name, "")
  end
  local here = t:tmpdir()
  local made = assert(options.make({}, {}))
  local function find(...)
    local list = assert(discover.find({ ... }, made))
    for index, path in ipairs(list) do list[index] = path:sub(#here + 2) end
    return list
  end
  assert.same({ "a_test.lua", "b_spec.lua", "d/e_spec.lua" }, find(here))
  assert.same({ "c.lua", "a_test.lua", "b_spec.lua", "d/e_spec.lua" }, find(here .. "/c.lua", here))
  assert.same({ ".f/g_spec.lua" }, find(here .. "/.f"))
end)

it("are shown without addresses in snapshots", function()
  local values = require "moonloop.testing.values"
  assert.equal("{\n  1.0,\n  f = (a function),\n  s = \"x\",\n  [(a userdata)] = (a thread),\n}",
    values.format({ 1.0, f = print, s = "x", [io.stdout] = coroutine.create(print) },
      values.without_address))
end)
