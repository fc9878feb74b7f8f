-- Functions with an order (R145), and functions for a target (R146); the loop never sees itself
-- sleep (R5).
local ml = require "moonloop"
local loop = ml.current()
local trace = {}
local function note(word) trace[#trace + 1] = word end
local function expect(text)
  assert(table.concat(trace, " ") == text, table.concat(trace, " "))
  trace = {}
end

for i, order in ipairs { 2, -1, 2, 0 } do loop:perform({ order = order }, note, i) end
loop:perform(note, 5)
loop:run()
expect "2 4 5 1 3"

local door = {}
for _, target in ipairs { door, "door", 1, true, note, {} } do
  loop:perform({ target = target }, note, type(target))
  loop:perform({ target = target, as_source = true }, note, type(target))
  loop:perform_after({ after = 1, target = target }, note, type(target))
end
local single = loop:perform({ target = door }, note, "single")
assert(single:cancel())
for _, target in ipairs { door, "do" .. "or", 1.0, true, note } do
  assert(loop:cancel_performs(target) == 3)
  assert(loop:cancel_performs(target) == 0)
end
assert(loop:cancel_performs(false) == 0 and not pcall(loop.cancel_performs, loop))
loop:run()
expect "table table table"

for _, activity in ipairs { "before_waiting", "after_waiting" } do
  loop:observer { on = activity, repeats = false, function() note(tostring(loop.is_waiting)) end }
end
loop:after(1, function() note(tostring(loop.is_waiting)) end)
loop:run()
expect "false false false"
