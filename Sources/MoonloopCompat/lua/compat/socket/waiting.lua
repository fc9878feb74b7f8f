-- How calls of LuaSocket wait: each socket is asked without waiting; where that is not enough, the
-- task waits until the descriptor is ready.
local ml = require "moonloop"
local files = require "moonloop.files"
local posix = require "moonloop.posix"
local unheld = require "moonloop.unheld"

local waiting = {}

-- The files of LuaSocket and LuaSec.
local LIBRARY = { "/socket%.lua$", "/socket/[^/]+%.lua$", "/ltn12%.lua$", "/mime%.lua$",
  "/ssl%.lua$", "/ssl/[^/]+%.lua$" }

--- Whether a source is LuaSocket's or LuaSec's own.
function waiting.is_library(source)
  for _, pattern in ipairs(LIBRARY) do
    if source:find(pattern) then return true end
  end
  return false
end

-- LuaSec takes the descriptor out of a socket.
local watched = { is_library = waiting.is_library,
  is_open = function(socket) return socket:getfd() >= 0 end }

-- Sockets count for the limit of handles until they are closed or collected.
local places = setmetatable({}, { __mode = "k" })
local place_meta = { __gc = function(place)
  if not place.is_left then files.release_other() end
  place.is_left = true
end }

-- Whether the limit allows one more. What has a finalizer is gone after two rounds of the
-- collector, and an error has come after one.
local function has_room() return pcall(files.reserve_other) or pcall(files.reserve_other) end

local function leave(socket)
  unheld.remove(socket)
  if places[socket] then place_meta.__gc(places[socket]) end
end

--- Makes a function that returns sockets; they are open until `close`. Beyond the limit for handles
--- it says what LuaSocket says where the system has no more descriptors.
function waiting.opening(kind, make)
  return function(...)
    local results = table.pack(make(...))
    local socket = results[1]
    if socket and not has_room() then
      socket:close()
      return nil, "Too many open files"
    end
    if socket then
      unheld.add(socket, "socket", kind, watched)
      places[socket] = setmetatable({}, place_meta)
    end
    return table.unpack(results, 1, results.n)
  end
end

--- `setfd`: LuaSec takes the descriptor out of a socket.
function waiting.setfd(c)
  return function(socket, fd)
    if fd == -1 then leave(socket) end
    return waiting.original(":setfd", c.setfd, socket, fd)
  end
end

-- What is known about each socket: its timeouts, its gate, its reader and writer.
local states = setmetatable({}, { __mode = "k" })

--- Returns what is known of a socket. LuaSocket itself never waits for it from now on.
-- @param c the functions in C of its class
function waiting.of(socket, c)
  local state = states[socket]
  if state then return state end
  local block, total = -1, -1
  if c.gettimeout then block, total = c.gettimeout(socket) end
  state = { block = block, total = total }
  c.settimeout(socket, 0, "b")
  states[socket] = state
  return state
end

--- Returns what is known of a socket that was used before, else nil.
function waiting.known(socket) return states[socket] end

--- Whether the socket's timeouts say that nothing may wait.
function waiting.is_eager(state) return state.block == 0 or state.total == 0 end

-- How long the next wait may take; nil: no limit. As in LuaSocket: 'b' is for one wait, 't' for
-- the whole call.
local function left(state, begin)
  local block, total = state.block, state.total
  if total < 0 then return block >= 0 and block or nil end
  local rest = math.max(0, total - (ml.now() - begin))
  return block < 0 and rest or math.min(block, rest)
end

-- What nested.lua passes on: its mark, the coroutines that it has resumed, those whose wait it
-- passes on.
local pass = { mark = {}, resumed = setmetatable({}, { __mode = "k" }),
  waits = setmetatable({}, { __mode = "k" }) }
waiting.pass = pass

-- The results of a call that was made elsewhere.
local function passed(is_ok, ...)
  if is_ok then return ... end
  error((...), 0)
end

local report

-- Calls a function that waits. Where Lua cannot wait, the loop serves nothing else meanwhile, as
-- with LuaSocket alone; that is reported.
function waiting.call(name, fn, ...)
  local obstacle = posix.obstacle()
  if not obstacle then return fn(...) end
  if pass.resumed[coroutine.running()] and coroutine.isyieldable() then
    return passed(coroutine.yield(pass.mark, waiting.call, name, fn, ...))
  end
  report = report or require "moonloop.compat.socket.report"
  report(name)
  return ml.current():task({ name = name }, fn, ...):wait()
end

--- Waits until a socket is ready.
-- @param events "r", "w", or "c": until its connection is decided
-- @return true; or nil and "timeout", or "closed" if it was closed meanwhile
function waiting.ready(name, state, fd, events, begin)
  if fd < 0 then return nil, "closed" end
  state.gate = state.gate or posix.gate()
  local done, _, code = waiting.call(name, posix.wait, left(state, begin), name,
    { fd, events, state.gate })
  if done then return true end
  return nil, code == "ETIMEDOUT" and "timeout" or "closed"
end

--- Ends the waits for a socket that is about to be closed.
function waiting.close(socket)
  leave(socket)
  local state = states[socket]
  if state and state.gate then posix.open(state.gate) end
end

-- Marks a socket as busy until the mark is closed: two tasks that read would mix what they get.
local busy = { __close = function(mark) mark.state[mark.side] = nil end }

function waiting.mark(state, side)
  state[side] = true
  return setmetatable({ state = state, side = side }, busy)
end

--- Calls a function in C; what it raises is raised at another level.
-- @param name of the method, with a colon before it; or of the function
function waiting.try(level, name, fn, ...)
  local results = table.pack(pcall(fn, ...))
  if results[1] then return table.unpack(results, 2, results.n) end
  local message = results[2]
  if type(message) == "string" then
    message = message:gsub("^bad argument #(%d+) to '%?'", function(number)
      local word, is_method = name:gsub("^:", "")
      return ("bad argument #%d to '%s'"):format(number - is_method, word)
    end)
  end
  error(message, level + 1)
end

--- The same as our last step: raises at the line that called it.
function waiting.original(name, fn, ...) return waiting.try(1, name, fn, ...) end

return waiting
