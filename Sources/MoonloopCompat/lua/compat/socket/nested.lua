-- Waits in coroutines that a script made itself. Such a coroutine yields to whatever resumed it,
-- never to the loop. So it hands its wait to `coroutine.resume`, which waits in its place: in the
-- task, or in another such coroutine, which hands it on. To the script, the resumed coroutine runs
-- all the while.
local waiting = require "moonloop.compat.socket.waiting"

local nested = {}

local close, create, resume, status, wrap = coroutine.close, coroutine.create, coroutine.resume,
  coroutine.status, coroutine.wrap
local original = waiting.original
local pass = waiting.pass

-- Hands the results of a wait to the coroutine.
local function go_on(co, ...)
  pass.waits[co] = nil
  return resume(co, ...)
end

-- Looks at what a resumed coroutine gave: its results, or a wait.
local function serve(co, is_ok, mark, ...)
  if mark ~= pass.mark then
    pass.resumed[co] = nil
    return is_ok, mark, ...
  end
  pass.waits[co] = true
  return serve(co, go_on(co, pcall(...)))
end

local function resume_passing(co, ...)
  if type(co) ~= "thread" then return original("resume", resume, co) end
  if pass.waits[co] then return false, "cannot resume non-suspended coroutine" end
  if pass.resumed[co] then return resume(co, ...) end  -- an error: it runs
  pass.resumed[co] = true
  return serve(co, resume(co, ...))
end

-- As Lua's own: an error ends the coroutine, and has the caller's place.
local function unwrap(co, is_ok, ...)
  if is_ok then return ... end
  local problem = ...
  if status(co) == "dead" then
    local is_closed, last = close(co)
    if not is_closed then problem = last end
  end
  error(problem, type(problem) == "string" and 2 or 0)
end

--- Replaces Lua's functions that resume coroutines, or tell how they are, in the whole state.
function nested.install()
  coroutine.resume = resume_passing

  function coroutine.wrap(fn)
    if type(fn) ~= "function" then return original("wrap", wrap, fn) end
    local co = create(fn)
    return function(...) return unwrap(co, resume_passing(co, ...)) end
  end

  function coroutine.status(co)
    if type(co) ~= "thread" then return original("status", status, co) end
    return pass.waits[co] and "normal" or status(co)
  end

  function coroutine.close(co)
    if pass.waits[co] then error("cannot close a normal coroutine", 2) end
    return original("close", close, co)
  end
end

return nested
