-- Use SQLite without blocking the loop
-- The library waits for the disk, so it gets a thread of its own: a worker that holds the
-- connection and answers requests. Needs Debian's lua-sql-sqlite3.
--
--   moonloop run sqlite.lua [FILE]
local ml = require "moonloop"
local loop = ml.current()

local database = assert(ml.worker { name = "database", args = { path = arg[1] or ":memory:" },
  source = [[
    local ml = require "moonloop"
    local sqlite = require "luasql.sqlite3".sqlite3()
    local db = assert(sqlite:connect((...).path))

    -- A statement's rows, or the number of rows that it changed.
    ml.parent:on("message", function(statement, reply)
      local cursor, message = db:execute(statement)
      if not cursor then return reply { message = message } end
      if type(cursor) == "number" then return reply { changed = cursor } end
      local rows = {}
      for row in function() return cursor:fetch({}, "a") end do rows[#rows + 1] = row end
      cursor:close()
      reply { rows = rows }
    end)
  ]] })

local function execute(statement)
  local answer = assert(database.port:request(statement, { timeout = 10 }))
  return assert(answer.rows or answer.changed, answer.message)
end

loop:task(function()
  execute "create table birds (name text, legs integer)"
  local count = execute "insert into birds values ('owl', 2), ('heron', 1), ('robin', 2)"
  print(("%d rows"):format(count))
  for _, bird in ipairs(execute "select name from birds where legs = 2 order by name") do
    print(bird.name)
  end
  print(select(2, pcall(execute, "select wings from birds")))
  database:stop()
end)
