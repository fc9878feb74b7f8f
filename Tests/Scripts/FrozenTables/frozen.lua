-- A frozen table is read like a table, and never changes.
local ml = require "moonloop"

local plain = { 10, 20, 30, name = "a\0b", on = true, off = false, [1.5] = "half", [-1] = "minus",
  [100] = "far", [true] = "yes", inner = { deep = { 1 } } }
plain.same = plain.inner
local frozen = ml.freeze(plain)

-- Reading.
assert(frozen[1] == 10 and frozen[3] == 30 and frozen[4] == nil and frozen[0] == nil)
assert(frozen[1.0] == 10 and frozen[1.5] == "half" and frozen[2.5] == nil and frozen[-1] == "minus")
assert(frozen.name == "a\0b" and frozen.on == true and frozen.off == false and frozen.none == nil)
assert(frozen[true] == "yes" and frozen[false] == nil and frozen[{}] == nil)
assert(frozen[100] == "far" and frozen[100.0] == "far" and frozen[2 ^ 53] == nil)
assert(frozen[math.huge] == nil and frozen[0 / 0] == nil and frozen[nil] == nil)
assert(#frozen == 3 and frozen.inner.deep[1] == 1)
assert(frozen.inner == frozen.same and frozen.inner == frozen.inner, "a table is one")
assert(type(frozen) == "userdata" and tostring(frozen) == "frozen table")
assert(ml.freeze(frozen) == frozen and ml.freeze({ frozen })[1] == frozen)
assert(#ml.freeze {} == 0 and ml.freeze({}).x == nil and next { pairs(ml.freeze {}) } == 1)

-- Iterating: items in order, then everything else once.
local seen, order = {}, {}
for key, value in pairs(frozen) do
  assert(seen[key] == nil)
  seen[key], order[#order + 1] = value, key
end
assert(order[1] == 1 and order[2] == 2 and order[3] == 3 and #order == 12, #order)
for key in pairs(plain) do assert(seen[key] ~= nil, tostring(key)) end
local sum = 0
for _, value in ipairs(frozen) do sum = sum + value end
assert(sum == 60)
assert(table.concat(frozen, ",") == "10,20,30")
assert(select("#", table.unpack(frozen)) == 3)

-- It is a copy; metatables are left out.
plain[1], plain.inner.deep[1] = 0, 0
assert(frozen[1] == 10 and frozen.inner.deep[1] == 1)
local fallback = setmetatable({}, { __index = { x = 1 }, __pairs = error, __len = error })
assert(ml.freeze(fallback).x == nil)

local function fails(text, body, ...)
  local fine, message = pcall(body, ...)
  assert(not fine and tostring(message):find(text, 1, true), tostring(message))
  return message
end
-- Writing.
local message = fails("frozen table: it cannot be changed (",
  function() frozen.x = 1 end)
assert(message:find "frozen.lua:49%); change a copy, and freeze that", message)
fails("cannot be changed", function() frozen[1] = 1 end)
fails("cannot be changed", function() frozen.name = nil end)
fails("cannot be changed", function() frozen.inner.deep[2] = 1 end)
fails("cannot be changed", function() frozen[nil] = 1 end)
fails("cannot be changed", table.insert, frozen, 1)
fails("cannot be changed", table.sort, frozen, function(a, b) return a > b end)
fails("table expected", rawset, frozen, 1, 1)
fails("", setmetatable, frozen, {})
assert(type(getmetatable(frozen)) ~= "table")
fails("table expected", next, frozen)
-- The iterator, misused.
local step = pairs(frozen)
fails("the key is not in the table", step, frozen, "none")
fails("the key is not in the table", step, frozen, {})
fails("the key is not in the table", step, frozen, 4)
fails("frozen table", step, {}, nil)
fails("frozen table", step)
assert(step(frozen, "same") == nil or true)
assert(frozen[1] == 10, "it is as it was")

-- What cannot be frozen, and where it is.
fails("ml.freeze: takes a table, got 5", ml.freeze, 5)
fails("ml.freeze: takes a table, got no", ml.freeze)
fails("ml.freeze: takes a table", ml.freeze, io and io.stdout or print)
fails("value.a[2].b is a function, which cannot be frozen",
  ml.freeze, { a = { 1, { b = print } } })
fails('value["x y"][1.5][true] is a thread', ml.freeze,
  { ["x y"] = { [1.5] = { [true] = coroutine.create(print) } } })
fails("value.f is a", ml.freeze, { f = ml.current() })
fails("under a key that is a table", ml.freeze, { [{}] = 1 })
local cycle = { a = {} }
cycle.a.b = cycle
fails("value.a.b is a table that contains itself", ml.freeze, cycle)
local list = {}
for _ = 1, 200000 do list = { list } end
fails("nested deeper than 100 tables", ml.freeze, list)
local level = ml.freeze {}
for _ = 1, 99 do level = ml.freeze { level } end
fails("nested deeper than 100 tables", ml.freeze, { level })

-- A table that is found in many places is one: this would have 2^60 leaves.
local wide = { "leaf" }
for _ = 1, 60 do wide = { wide, wide } end
local deep = ml.freeze(wide)
for _ = 1, 60 do deep = deep[2] end
assert(deep[1] == "leaf")

-- Many keys.
local many = {}
for i = 1, 3000 do many["k" .. i], many[-i], many[i + 0.5] = i, i, i end
local all, count = ml.freeze(many), 0
for key, value in pairs(all) do
  count = count + 1
  assert(many[key] == value)
end
assert(count == 9000 and all.k3000 == 3000 and all[-3000] == 3000 and all[3000.5] == 3000)

-- It goes with its last proxy; the parts that are held stay.
local weak = setmetatable({ ml.freeze { { "kept" } } }, { __mode = "v" })
local part = weak[1][1]
collectgarbage() collectgarbage()
assert(weak[1] == nil and part[1] == "kept")
