-- The runner's own parts: differences.
local diff = require "moonloop.testing.diff"
local steps_of = require "moonloop.testing.steps"

local function shown(expected, actual)
  return table.concat(diff.lines(diff.texts { expected = expected, actual = actual }), "\n")
end

--- Plays steps: what stays and goes is the one list, what stays and comes the other.
local function played(steps)
  local left, right = {}, {}
  for _, step in ipairs(steps) do
    if step[1] ~= "+" then left[#left + 1] = step[2] end
    if step[1] ~= "-" then right[#right + 1] = step[2] end
  end
  return left, right
end

it("marks the part of a line that differs", function()
  assert.equal('expected: "abcdef"\nactual:   "abXef"\n             ^^', shown("abcdef", "abXef"))
  assert.equal("expected: 1\nactual:   1.0\n           ^^", shown(1, 1.0))
  assert.equal("expected: 1\nactual:   2", shown(1, 2))
  assert.equal("expected: nil\nactual:   false", shown(nil, false))
end)

it("shows as many digits as tell numbers apart", function()
  assert.equal("expected: 0.29999999999999999\nactual:   0.30000000000000004\n"
    .. "            ^^^^^^^^^^^^^^^^^", shown(0.3, 0.1 + 0.2))
  assert.matches("\nactual:   nan, which equals nothing, not even itself", shown(0 / 0, 0 / 0), 1,
    true)
end)

it("does not cut characters in two", function()
  assert.equal('expected: "Zoë"\nactual:   "Zoé"\n             ^', shown("Zoë", "Zoé"))
end)

it("tells apart what looks alike", function()
  local a, b = setmetatable({}, { __tostring = function() return "A" end }), {}
  assert.equal("expected: {} (A)\nactual:   {} (" .. tostring(b) .. ")",
    (shown(a, b):gsub("\n[ ^]*$", "")))
end)

it("shows long lines around the difference", function()
  for _, line in ipairs(diff.lines(diff.texts {
    expected = ("a"):rep(3000) .. "1" .. ("b"):rep(3000),
    actual = ("a"):rep(3000) .. "2" .. ("b"):rep(3000),
  })) do assert.is_true(#line < 200, line) end
end)

it("leads from the one to the other, whatever they are", function()
  math.randomseed(7)
  for round = 1, 300 do
    local left, right = {}, {}
    local kinds = math.random(1, 6)
    for index = 1, math.random(0, 30) do left[index] = tostring(math.random(kinds)) end
    for index = 1, math.random(0, 30) do right[index] = tostring(math.random(kinds)) end
    local from, to = played(steps_of(left, right))
    assert.same(left, from, "round " .. round)
    assert.same(right, to, "round " .. round)
  end
end)

it("leads there for lists that are too long to compare whole", function()
  math.randomseed(8)
  local left, right = {}, {}
  for index = 1, 3000 do left[index] = tostring(index) end
  for _, line in ipairs(left) do
    local chance = math.random(20)
    if chance > 1 then right[#right + 1] = line end
    if chance == 2 then right[#right + 1] = "new" end
  end
  local steps = steps_of(left, right)
  local from, to = played(steps)
  assert.same(left, from)
  assert.same(right, to)
  local kept = 0
  for _, step in ipairs(steps) do kept = kept + (step[1] == " " and 1 or 0) end
  assert.is_true(kept > 2700, "kept " .. kept)
end)

it("bounds what it shows", function()
  local a, b = {}, {}
  for index = 1, 2000 do a[index], b[index] = index, -index end
  assert.is_true(#diff.lines(diff.texts { expected = a, actual = b }) <= 201)
end)
