-- LuaSQL's drivers with each connection on a thread of its own: a call suspends its task, and the
-- loop goes on. Where moonloop.compat.socket is loaded, scripts get the drivers of servers so.
local ml = require "moonloop"
local posix = require "moonloop.posix"
local waiting = require "moonloop.compat.socket.waiting"

-- What runs on each thread. LuaSQL's objects stay there; a number stands for each. Of a cursor it
-- sends many rows at a time.
local THREAD = [[
local ml = require "moonloop"
local driver, ROWS = ..., 100
local objects, last = { [0] = require("luasql." .. driver)[driver]() }, 0
local methods = {}

function methods.fetch(cursor)
  local batch = { names = cursor:getcolnames(), types = cursor:getcoltypes(), rows = {},
    count = cursor.numrows and cursor:numrows() }
  for place = 1, ROWS do
    batch.rows[place] = cursor:fetch({}, "n")
    batch.is_last = batch.rows[place] == nil
    if batch.is_last then break end
  end
  return batch
end

local function answer(ok, first, ...)
  if type(first) ~= "userdata" then return table.pack(ok, first, ...) end
  last = last + 1
  objects[last] = first
  return { true, last, n = 2, class = tostring(first):match "^%w+ %l+" }
end

ml.parent:on("message", function(request, reply)
  local number, name, given = request.number or -1, request.name, request.given
  local object = objects[number]
  if not name or name == "close" then objects[number] = nil end
  if not name then return reply(true) end
  reply(answer(pcall(methods[name] or object[name], object, table.unpack(given, 1, given.n))))
end)
]]

-- By drivers: what asks a connection for its number at the server, and what ends the statement of
-- the connection with that number, as another connection's statement.
local STOPS = { postgres = { "select pg_backend_pid()", "select pg_cancel_backend(%d)" },
  mysql = { "select connection_id()", "kill query %d" } }

-- What is known of each object: its thread, its number there, and those it was made by.
local function fields(object) return debug.getuservalue(object, 1) end

local metas = {}

local function make(class, known)
  local object = posix.blank()
  debug.setuservalue(object, known, 1)
  return debug.setmetatable(object, metas[class])
end

-- Ends the statement that runs, by another connection; then the thread is free again.
local function stop(thread, permit)
  local _ <close> = permit
  local environment = make(thread.class, { driver = thread.driver })
  local connection, problem = environment:connect(table.unpack(thread.given, 1, thread.given.n))
  if not connection then error("a statement could not be stopped: " .. problem, 0) end
  connection:execute(thread.stop)
  connection:close()
  thread.worker.port:request {}
end

-- A statement that no task waits for any more is stopped; the next request waits for that.
local function request(thread, message)
  local permit, is_answered = thread.gate:acquire(), false
  local _ <close> = setmetatable({}, { __close = function()
    if is_answered or not thread.stop then return permit:release() end
    ml.current():task({ name = "luasql:stop", owner = "none" }, stop, thread, permit)
  end })
  local answer, problem = thread.worker.port:request(message)
  is_answered = true
  return answer, problem
end

local function ask(object, name, ...)
  local known = fields(object)
  if known.is_closed then
    error(("LuaSQL: %s is closed"):format(getmetatable(object).__name:match "%l+$"), 2)
  end
  local answer, message = waiting.call("luasql:" .. name, request, known.thread,
    { number = known.number, name = name, given = table.pack(...) })
  if not answer then return nil, "LuaSQL: " .. message end
  if not answer[1] then error(answer[2], 2) end
  if not answer.class then return table.unpack(answer, 2, answer.n) end
  return make(answer.class, { thread = known.thread, number = answer[2], made_by = object })
end

-- Ends a thread that has nothing more to do.
local function finish(worker)
  worker:stop()
  waiting.call("luasql:close", worker.await, worker)
end

-- Methods that are not passed on as they are, by the ends of the names of their classes.
local own = { environment = {}, connection = {}, cursor = {} }

function own.environment.connect(environment, ...)
  local known = fields(environment)
  if known.is_closed then error("LuaSQL: environment is closed", 2) end
  local worker = assert(ml.worker { name = "luasql." .. known.driver, source = THREAD,
    args = known.driver, keep_alive = false })
  local connection, message
  -- An error, or a cancelled task, ends the thread as well.
  local _ <close> = setmetatable({}, { __close = function()
    if not connection then worker:stop() end
  end })
  local thread = { worker = worker, gate = ml.semaphore(1), given = table.pack(...),
    driver = known.driver, class = getmetatable(environment).__name }
  connection, message = ask(make(thread.class, { thread = thread, number = 0 }), "connect", ...)
  if not connection then
    finish(worker)
  elseif STOPS[known.driver] then
    local question, stops = table.unpack(STOPS[known.driver])
    local cursor = assert(ask(connection, "execute", question))
    thread.stop = stops:format(own.cursor.fetch(cursor))
    own.cursor.close(cursor)
  end
  return connection, message
end

function own.environment.close(environment)
  local known = fields(environment)
  local was_open = not known.is_closed
  known.is_closed = true
  return was_open
end

function own.connection.close(connection)
  local known = fields(connection)
  if known.is_closed then return false end
  local is_done, message = ask(connection, "close")
  known.is_closed = is_done
  if is_done then finish(known.thread.worker) end
  return is_done, message
end

-- The thread needs a cursor no more: all its rows are here.
local function forget(cursor)
  local known = fields(cursor)
  if not known.is_closed then known.thread.worker.port:send { number = known.number } end
  known.is_closed = true
end

-- The next batch, if the last one is used up.
local function batch_of(cursor)
  local known = fields(cursor)
  if not known.batch or (known.place == #known.batch.rows and not known.batch.is_last) then
    known.batch, known.place = ask(cursor, "fetch"), 0
  end
  return known.batch
end

function own.cursor.fetch(cursor, row, mode)
  local known = fields(cursor)
  if known.is_closed then error("LuaSQL: cursor is closed", 2) end
  local batch = batch_of(cursor)
  known.place = known.place + 1
  local values = batch.rows[known.place]
  if not values then
    forget(cursor)
    return nil
  end
  if not row then return table.unpack(values, 1, #batch.names) end
  mode = mode or "n"
  for place, name in ipairs(batch.names) do
    if mode:find "n" then row[place] = values[place] end
    if mode:find "a" then row[name] = values[place] end
  end
  return row
end

function own.cursor.getcolnames(cursor) return batch_of(cursor).names end
function own.cursor.getcoltypes(cursor) return batch_of(cursor).types end
function own.cursor.numrows(cursor) return batch_of(cursor).count end

function own.cursor.close(cursor)
  local known = fields(cursor)
  if known.is_closed then return false end
  if not (known.batch and known.batch.is_last) then ask(cursor, "close") end
  forget(cursor)
  return true
end

-- What the collector ends.
local unused = { cursor = forget }

function unused.connection(connection)
  local known = fields(connection)
  if not known.is_closed then known.thread.worker:stop() end
end

local function define(class, methods)
  local kind = class:match "%l+$"
  local meta = { __index = {}, __name = class, __gc = unused[kind] }
  function meta.__tostring(object) return ("%s (%p)"):format(class, object) end
  for name in pairs(methods) do
    if name:find "^%l" then
      meta.__index[name] = own[kind][name]
        or function(object, ...) return ask(object, name, ...) end
    end
  end
  metas[class] = meta
end

--- A driver whose connections each have a thread.
-- @param name "postgres"; `driver` is what LuaSQL's module returns, `found` its classes by name
return function(name, driver, found)
  for class, methods in pairs(found) do define(class, methods) end
  local threaded = {}
  for key, value in pairs(driver) do threaded[key] = value end
  threaded[name] = function()
    local environment = driver[name]()
    local class = tostring(environment):match "^%w+ %l+"
    environment:close()
    return make(class, { driver = name })
  end
  return threaded
end
