-- LuaSQL's connections on threads of their own answer as LuaSQL itself does, while the loop goes
-- on. With its driver for SQLite, which needs no server and gets threads only here.
local ml = require "moonloop"
require "moonloop.compat.socket"
local luasql = require "moonloop.compat.luasql"
local sqlite = require "luasql.sqlite3"
local threaded = require "moonloop.compat.luasql.threads"("sqlite3", sqlite, luasql.classes())

local function shown(...)
  local parts = table.pack(...)
  for place = 1, parts.n do
    local part = parts[place]
    if type(part) == "table" then
      local names = {}
      for name, value in pairs(part) do names[#names + 1] = ("%s=%s"):format(name, value) end
      table.sort(names)
      part = "{" .. table.concat(names, ",") .. "}"
    end
    parts[place] = tostring(part):gsub("%(0x%x+%)", "(ADDRESS)")
  end
  return table.concat(parts, " ")
end

-- The same calls on a driver: what each gives.
local function use(driver)
  local lines = {}
  local function note(...) lines[#lines + 1] = shown(...) end
  local environment = driver.sqlite3()
  note(environment, type(environment))
  local connection = environment:connect ":memory:"
  note(connection)
  note(environment:connect "/nowhere/at/all")
  note(connection:execute "create table t (name text, size integer, price real)")
  note(connection:execute "insert into t values ('tea', 2, 1.5), ('cups', null, 4)")
  note(connection:execute "no sql")
  local cursor = connection:execute "select * from t order by size"
  note(cursor, type(cursor))
  note(cursor:getcolnames())
  note(cursor:getcoltypes())
  note(cursor:fetch())
  note(cursor:fetch({}, "a"))
  note(cursor:fetch({}, "a"))
  note(pcall(cursor.fetch, cursor) == false)
  note(cursor:close())
  cursor = connection:execute "select name, size from t where name = 'tea'"
  note(cursor:fetch({}))
  note(cursor:close(), cursor:close())
  note(connection:setautocommit(false))
  note(connection:execute "delete from t")
  note(connection:rollback())
  note(connection:escape "it's")
  local count = 0
  cursor = connection:execute [[with recursive n(i) as (select 1 union all select i + 1 from n
    limit 250) select i, i * i as square from n]]
  local row = cursor:fetch({}, "an")
  while row do
    count = count + row.square - row[1] * row.i
    row = cursor:fetch(row, "an")
  end
  note(count)
  note(connection:close(), connection:close())
  note(environment:close(), environment:close())
  note(pcall(environment.connect, environment, "x") == false)
  return table.concat(lines, "\n")
end

local expected, given = use(sqlite), use(threaded)
assert(given == expected, ("%s\n-- expected --\n%s"):format(given, expected))

-- While a statement runs, other tasks do.
local connection = threaded.sqlite3():connect ":memory:"
local order = {}
local first = ml.current():task(function()
  connection:execute("select 1"):close()
  order[#order + 1] = "answered"
end)
ml.current():task(function() order[#order + 1] = "meanwhile" end)
first:await()
assert(table.concat(order, ", ") == "meanwhile, answered", table.concat(order, ", "))
assert(connection:close())

-- Drivers of servers have them where the sockets of LuaSocket are on the loop.
local made_up = { __index = { connect = print, close = function() end } }
function made_up.__tostring() return "MadeUp environment (0x1)" end
debug.getregistry()["MadeUp environment"] = made_up
package.preload["luasql.made_up"] = function()
  return { made_up = function() return setmetatable({}, made_up) end }
end
local searcher = package.searchers[2]
package.searchers[2] = function() return package.preload["luasql.made_up"] end
local environment = luasql.open("luasql.made_up").made_up()
package.searchers[2] = searcher
assert(type(environment) == "userdata" and tostring(environment):find "^MadeUp environment %(0x")
