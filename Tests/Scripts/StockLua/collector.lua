-- The collector: weak tables, finalizers and their order, resurrection, modes, ephemerons.
local function full() collectgarbage() collectgarbage() end

local weak = setmetatable({ {}, {}, "text" }, { __mode = "v" })
full()
assert(weak[1] == nil and weak[2] == nil and weak[3] == "text")
local keys = setmetatable({}, { __mode = "k" })
do local key = {} keys[key] = { key } end  -- the value holds its own key
full()
assert(next(keys) == nil)

local order = {}
for i = 1, 5 do setmetatable({}, { __gc = function() order[#order + 1] = i end }) end
full()
assert(table.concat(order, " ") == "5 4 3 2 1", table.concat(order, " "))

local saved
setmetatable({ name = "x" }, { __gc = function(object) saved = object end })
full()
assert(saved.name == "x")
local again = 0
local metatable
metatable = { __gc = function(object)
  again = again + 1
  if again < 3 then setmetatable(object, metatable) end
end }
setmetatable({}, metatable)
for _ = 1, 5 do full() end
assert(again == 3)

-- A finalizer may make or call anything; its error ends nothing.
warn "@off"
local done = {}
setmetatable({}, { __gc = function()
  local t = {}
  for i = 1, 100 do t[i] = ("x"):rep(i):gsub("x", "y") end
  done.made = #table.concat(t)
  done.pcall = pcall(error, "x")
  done.coroutine = coroutine.wrap(function() coroutine.yield(7) end)()
end })
full()
assert(done.made == 5050 and done.pcall == false and done.coroutine == 7)
-- Without a __gc field when the metatable is set, nothing is marked.
local late = {}
setmetatable({}, late)
late.__gc = function() done.late = true end
full()
assert(not done.late)

assert(collectgarbage("count") > 10 and collectgarbage("isrunning"))
collectgarbage("stop")
assert(not collectgarbage("isrunning"))
collectgarbage("restart")
local mode = collectgarbage("generational")
assert(mode == "incremental" or mode == "generational")
for i = 1, 20000 do weak[i % 100] = { i } end
assert(collectgarbage("incremental") == "generational")
collectgarbage(mode)
assert(type(collectgarbage("step")) == "boolean")
full()
local before = collectgarbage("count")
do
  local big = {}
  for i = 1, 50000 do big[i] = { i } end
  assert(collectgarbage("count") > before + 1000)
end
full()
assert(collectgarbage("count") < before + 500)
