-- insert, remove, move, concat and sort: the same results and messages as in stock Lua 5.4.

local function fails(message, f, ...)
  local ok, err = pcall(f, ...)
  assert(not ok and tostring(err):find(message, 1, true), tostring(err))
end
local function list(t) return table.concat(t, ",") end

local t = { 1, 2, 3 }
table.insert(t, 4)
table.insert(t, 1, 0)
assert(list(t) == "0,1,2,3,4")
assert(table.remove(t) == 4 and table.remove(t, 1) == 0 and list(t) == "1,2,3")
assert(table.remove({}) == nil and table.remove(t, 4) == nil)
fails("wrong number of arguments to 'insert'", table.insert, t)
fails("wrong number of arguments to 'insert'", table.insert, t, 1, 2, 3)
fails("position out of bounds", table.insert, t, 9, 1)
fails("position out of bounds", table.remove, t, 9)
fails("table expected, got nil", table.insert, nil, 1)

assert(list(table.move({ 1, 2, 3 }, 1, 3, 2)) == "1,1,2,3")
assert(list(table.move({ 1, 2, 3 }, 2, 3, 1)) == "2,3,3")
assert(list(table.move({ 1, 2 }, 1, 2, 3, { 8, 9 })) == "8,9,1,2")
fails("too many elements to move", table.move, {}, -1, math.maxinteger, 2)
fails("destination wrap around", table.move, {}, 1, math.maxinteger, 2)

assert(table.concat({}, ",") == "" and table.concat({ 1, 2.5, "x" }, "-") == "1-2.5-x")
assert(table.concat({ 1, 2, 3 }, ",", 2, 3) == "2,3" and table.concat({}, ",", 3, 2) == "")
fails("invalid value (table) at index 2 in table for 'concat'", table.concat, { 1, {}, 3 })

-- Metamethods are used, in the same order.
local log = {}
local store = { "a", "b" }
local proxy = setmetatable({}, {
  __index = function(_, k) log[#log + 1] = "get" .. k; return store[k] end,
  __newindex = function(_, k, v) log[#log + 1] = "set" .. k; store[k] = v end,
  __len = function() log[#log + 1] = "len"; return #store end,
})
table.insert(proxy, 1, "z")
assert(list(log) == "len,get2,set3,get1,set2,set1" and list(store) == "z,a,b")

-- Sorting.
local words = { "pear", "fig", "apple" }
table.sort(words)
assert(list(words) == "apple,fig,pear")
table.sort(words, function(a, b) return a > b end)
assert(list(words) == "pear,fig,apple")
fails("invalid order function for sorting", table.sort, { 1, 2, 3, 4 }, function() return true end)
fails("attempt to compare", table.sort, { 1, "x", 3 })
local endless = setmetatable({}, { __len = function() return math.maxinteger end })
fails("array too big", table.sort, endless)
local numbers, seed = {}, 42
for i = 1, 5000 do
  seed = (seed * 1103515245 + 12345) & 0x7fffffff
  numbers[i] = seed % 1000
end
table.sort(numbers)
for i = 2, #numbers do assert(numbers[i - 1] <= numbers[i]) end
-- An order that contradicts itself must end, in a list or in an error.
for _ = 1, 200 do
  pcall(table.sort, numbers, function()
    seed = (seed * 1103515245 + 12345) & 0x7fffffff
    return seed & 4096 ~= 0
  end)
end
