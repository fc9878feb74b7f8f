-- Random calls of insert, remove, move, concat and sort, on tables and on proxies: our functions
-- return what stock Lua's return, and touch the same elements in the same order. `rounds` and
-- `seed` are set by the test; `stock` holds liblua's own functions.
local random = math.random
math.randomseed(seed)

local function text(...)
  local list = {}
  for i = 1, select("#", ...) do
    local value = (select(i, ...))
    list[i] = type(value) == "table" and "table" or tostring(value)
  end
  return table.concat(list, ",")
end

-- This lets liblua find the names of its own functions for messages.
for name, library in pairs(stock) do package.loaded["stock." .. name] = library end

local function same(name, what, ours, theirs)
  theirs = theirs:gsub("stock%.", "")
  if ours == theirs then return end
  error(("%s(%s): %s, but stock gives %s"):format(name, what, ours, theirs), 3)
end

local function shown(t, count)
  local list = {}
  for i = -2, count + 4 do list[#list + 1] = tostring(rawget(t, i)) end
  return table.concat(list, " ")
end

-- Makes tables with these values; as proxies that log every access.
local function maker(values, missing, length)
  return function()
    local t, log = {}, {}
    for i = 1, #values do t[i] = values[i] end
    if not missing then return t, t, log end
    local metatable = {
      __index = function(_, k) log[#log + 1] = "get " .. text(k) return t[k] end,
      __newindex = function(_, k, v) log[#log + 1] = "set " .. text(k, v) t[k] = v end,
      __len = function() log[#log + 1] = "len" return length or #t end,
    }
    metatable[missing] = nil
    return setmetatable({}, metatable), t, log
  end
end

local function value()
  local kind = random(6)
  if kind == 1 then return random(5) end
  if kind == 2 then return "s" .. random(3) end
  if kind == 3 then return random(9) / 2 end
  return random(100)
end
local edges = {
  0, 1, 2, 3, 4, 5, -1, 10, math.maxinteger, math.mininteger, math.maxinteger - 1, "2", 2.0, 2.5,
  "x",
}
local function place() return random() < .7 and random(0, 8) or edges[random(#edges)] end
local gaps = { "none", "__newindex", "__len", "__index" }
local lengths = { 0, 3, 9, -1, "4", 2.5, {} }

for round = 1, rounds do
  local count, values = random(0, 7), {}
  for i = 1, count do values[i] = value() end
  local missing = random() < .4 and gaps[random(#gaps)] or nil
  local length = missing and random() < .1 and lengths[random(#lengths)] or nil
  local make = maker(values, missing, length)
  local function both(name, ...)
    local function run(library, ...)
      local t, store, log = make()
      local results = text(pcall(library[name], t, ...))
      return results .. " | " .. shown(store, count) .. " | " .. table.concat(log, " ")
    end
    same(name, text(...), run(table, ...), run(stock.table, ...))
  end
  both("insert", value())
  both("insert", place(), value())
  both("insert")
  both("insert", 1, 2, 3)
  both("remove")
  both("remove", random(-1, 9))
  both("move", random(-2, 8), random(-2, 8), random(-2, 8))
  both("concat")
  both("concat", ",")
  both("concat", ", ", random(-1, 8), random(-1, 8))
  if round % 10 == 0 then
    both("concat", {}, 1)
    both("move", math.maxinteger - 1, math.maxinteger, place())
    both("move", -1, math.maxinteger, 1)
    both("move", 1, 2, math.maxinteger)
    both("move", "x")
    for _, name in ipairs { "insert", "remove", "move", "concat", "sort" } do
      for _, wrong in ipairs { 1, "s", print, coroutine.create(print) } do
        same(name, text(wrong), text(pcall(table[name], wrong, 1, 1, 1)),
          (text(pcall(stock.table[name], wrong, 1, 1, 1))))
      end
      same(name, "", text(pcall(table[name])), text(pcall(stock.table[name])))
    end
  end
end

-- Sorting: the same comparisons in the same order, also by orders that contradict themselves. (In
-- longer lists stock Lua may choose pivots by the clock.)
local orders = {
  function(a, b) return a[1] < b[1] end,
  function(a, b) return a[1] > b[1] end,
  function() return true end,
  function(a, b) return a[1] <= b[1] end,
}
local fills = {
  function(i) return i end, function(i, n) return n - i end, function() return random(3) end,
  function() return random() end, function(i) return (i % 10) * 1.0 end,
  function() return "k" .. random(50) end, function(_, n) return random(n) end,
}
for _ = 1, rounds // 5 do
  local count, values = random(0, random() < .1 and 127 or 60), {}
  local fill, order = fills[random(#fills)], random(5)
  for i = 1, count do values[i] = fill(i, count) end
  local function sorted(library)
    local t, log, state = {}, {}, 0
    for i = 1, count do t[i] = { values[i], i } end
    local function compare(a, b)
      log[#log + 1] = (a and a[2] or "nil") .. ":" .. (b and b[2] or "nil")
      if order <= 4 then return orders[order](a, b) end
      state = (state * 1103515245 + 12345) & 0x7fffffff
      return state & 4096 ~= 0
    end
    local results = text(pcall(library.sort, t, compare))
    for i = 1, count do t[i] = t[i] and t[i][2] or "nil" end
    return results .. table.concat(t, " ") .. "|" .. table.concat(log, " ")
  end
  same("sort", "by order " .. order, sorted(table), sorted(stock.table))
  local function plain(library)
    local t = table.move(values, 1, count, 1, {})
    return text(pcall(library.sort, t)) .. table.concat(t, " ")
  end
  same("sort", count, plain(table), plain(stock.table))
end
local function mixed(library) return text(pcall(library.sort, { 1, "x", 3 })) end
same("sort", "mixed", mixed(table), mixed(stock.table))
for _, length in ipairs { math.maxinteger, 1 << 31, 1 << 40 } do
  local function long(library)
    return text(pcall(library.sort, setmetatable({}, { __len = function() return length end })))
  end
  same("sort", length, long(table), long(stock.table))
end
