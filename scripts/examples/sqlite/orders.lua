-- Orders in an SQLite database, while the loop goes on: a pool of threads, transactions, and what
-- happens to a statement that takes too long. Needs Debian's lua-sql-sqlite3.
--   moonloop run orders.lua FILE
local ml = require "moonloop"
local loop = ml.current()
local open = require "pool"

if not arg[1] then
  io.stderr:write("usage: orders.lua FILE\n")
  os.exit(2)
end

local pool = open { path = arg[1], size = 2 }
local beats = 0
local heart = loop:every(0.01, function() beats = beats + 1 end)

loop:task(function()
  local _ <close> = setmetatable({}, { __close = function()
    heart:invalidate()
    pool:close()
  end })
  assert(pool:execute "create table orders (item text, count integer check (count > 0))")

  -- Both or none.
  print(pool:transaction(function(execute)
    execute "insert into orders values ('tea', 2)"
    execute "insert into orders values ('cups', 4)"
    return "ordered"
  end))
  local done, problem = pool:transaction(function(execute)
    execute "insert into orders values ('spoons', 6)"
    execute "insert into orders values ('plates', 0)"
  end)
  print(done, problem)
  print(pcall(pool.transaction, pool, function(execute)
    execute "insert into orders values ('spoons', 6)"
    error("changed my mind", 0)
  end))
  local rows = assert(pool:execute "select * from orders")
  for _, row in ipairs(rows) do print(row.item, row.count) end

  -- A deadline: SQLite makes the other connection wait for this transaction, in C. The caller goes
  -- on, the thread is stopped and replaced, and the loop has not waited at all.
  pool:transaction(function(execute)
    execute "insert into orders values ('forks', 4)"
    beats = 0
    print(select(3, pool:execute("insert into orders values ('bowls', 4)", { timeout = 0.2 })))
    print(beats > 3 and "the loop went on" or "the loop has waited")
  end)
  print(assert(pool:execute "select count from orders where item = 'forks'")[1].count)
  -- So it is with a statement that would never end.
  print(select(3, pool:execute([[with recursive n(i) as (select 1 union all select i from n)
    select count(*) as count from n]], { timeout = 0.2 })))
end)
