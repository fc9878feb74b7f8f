-- A pool of threads with a connection to an SQLite database each, for programs whose loop must not
-- wait for the disk. A task that waits longer than its timeout goes on without the statement; the
-- thread is stopped, and with it the statement, and replaced.
local ml = require "moonloop"

-- What runs on each thread: statements come in, rows or numbers of changed rows go out.
local THREAD = [[
  local ml = require "moonloop"
  local options = ...
  local db = assert(require "luasql.sqlite3".sqlite3():connect(options.path))
  -- How long SQLite itself waits for locks of other connections.
  assert(db:execute "pragma busy_timeout = 1000"):close()
  local mode, problem
  for _ = 1, 100 do
    mode, problem = db:execute "pragma journal_mode = wal"
    if mode then break end
    ml.sleep(0.01)  -- another thread is changing it: SQLite does not wait for that
  end
  assert(mode, problem):close()

  ml.parent:on("message", function(statement, reply)
    local result, message = db:execute(statement)
    if not result then return reply { message = message } end
    if type(result) == "number" then return reply { changed = result } end
    local rows = {}
    for row in function() return result:fetch({}, "a") end do rows[#rows + 1] = row end
    result:close()
    reply { rows = rows }
  end)
]]

local Pool = {}
Pool.__index = Pool

local function start(self)
  return assert(ml.worker { name = "sqlite", source = THREAD, args = { path = self.path } })
end

-- One statement on one thread: its rows, or how many it changed; or nil, message, code.
local function ask(worker, statement, timeout)
  local answer, message, code = worker.port:request(statement, { timeout = timeout })
  if not answer then return nil, message, code end
  return answer.rows or answer.changed, answer.message
end

-- Calls a function with a thread of the pool. One that may still be busy does not come back: its
-- statement and its transaction end with it.
local function with_thread(self, timeout, fn)
  local worker, message, code = self.free:receive { timeout = timeout }
  if not worker then return nil, "all connections are busy: " .. tostring(message), code end
  local is_usable = false
  local _ <close> = setmetatable({}, { __close = function()
    if not is_usable then
      worker:invalidate()
      worker = start(self)
    end
    self.free:try_send(worker)
  end })
  local results = table.pack(fn(worker))
  is_usable = results[3] ~= "ETIMEDOUT"
  return table.unpack(results, 1, results.n)
end

--- One statement: a list of rows, or how many rows it changed; or nil, message, code.
function Pool:execute(statement, options)
  local timeout = options and options.timeout or self.timeout
  return with_thread(self, timeout, function(worker) return ask(worker, statement, timeout) end)
end

--- Calls a function with another that executes statements, all in one transaction. It is committed
--- when the function returns, and rolled back when it raises an error, which is raised again.
function Pool:transaction(fn)
  return with_thread(self, self.timeout, function(worker)
    local function execute(statement)
      local result, message, code = ask(worker, statement, self.timeout)
      if not result then error({ message = message, code = code }, 0) end
      return result
    end
    local results = table.pack(pcall(function()
      execute "begin immediate"
      local result = fn(execute)
      execute "commit"
      return result
    end))
    if results[1] then return results[2] end
    local problem = results[2]
    if type(problem) ~= "table" then ask(worker, "rollback", self.timeout) error(problem, 0) end
    if problem.code ~= "ETIMEDOUT" then ask(worker, "rollback", self.timeout) end
    return nil, problem.message, problem.code
  end)
end

function Pool:close()
  for worker in function() return self.free:try_receive() end do worker:stop() end
end

--- Opens a pool: `path`, `size` (2), `timeout` of a statement in seconds (5).
return function(options)
  local self = setmetatable({ path = options.path, timeout = options.timeout or 5 }, Pool)
  self.free = ml.channel(options.size or 2)
  for _ = 1, options.size or 2 do self.free:try_send(start(self)) end
  return self
end
