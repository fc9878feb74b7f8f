-- A breakpoint is a nested run that serves only the console, while the loop's clock stands still
-- (D39). The stopped code stays as it is: its locals and upvalues can be read and set.
local ml = require "moonloop"
local check = require "moonloop.text.options"
local frames = require "moonloop.console.frames"
local host = require "moonloop.console.host"
local loop = ml.current()

local breakpoint = {}

--- The sessions to notify, and how.
breakpoint.consoles = {}

--- The call-out in which the console is served: { thread, base, who, seconds, is_console }.
breakpoint.busy = nil

-- The breakpoints at which the program is stopped, the innermost last.
local stops = {}

-- The current one. One that is over no longer counts, even if it has not been left yet.
local function current()
  for place = #stops, 1, -1 do
    if not stops[place].is_over then return stops[place] end
  end
end

-- The selected frame; nil if no code of the program is stopped.
local function frame()
  local stop = current()
  return stop and stop.frames[stop.at]
end

-- The innermost local with a name: its number and value.
local function find_local(key)
  local here = frame()
  local found, value, number = nil, nil, 1
  while true do
    local name, present = debug.getlocal(here.thread, here.level, number)
    if not name then return found, value end
    if name == key then found, value = number, present end
    number = number + 1
  end
end

local function find_upvalue(func, key)
  local number = 1
  while true do
    local name, value = debug.getupvalue(func, number)
    if not name then return end
    if name == key then return number, value end
    number = number + 1
  end
end

-- The function's globals, if they differ from the usual ones; not those of a console.
local function find_environment(func)
  local _, environment = find_upvalue(func, "_ENV")
  if type(environment) ~= "table" or environment == _G then return nil end
  local meta = debug.getmetatable(environment)
  return not (type(meta) == "table" and rawget(meta, "names")) and environment or nil
end

--- Whether the stopped function sees a name, and its value.
function breakpoint.get(key)
  local here = frame()
  if not here then return false end
  local number, value = find_local(key)
  if number then return true, value end
  number, value = find_upvalue(here.info.func, key)
  if number then return true, value end
  local environment = find_environment(here.info.func)
  if environment and environment[key] ~= nil then return true, environment[key] end
  return false
end

--- Sets a name in the stopped function; false if it has none of that name.
function breakpoint.set(key, value)
  local here = frame()
  if not here then return false end
  local number = find_local(key)
  if number then return debug.setlocal(here.thread, here.level, number, value) ~= nil end
  number = find_upvalue(here.info.func, key)
  if number then return debug.setupvalue(here.info.func, number, value) ~= nil end
  local environment = find_environment(here.info.func)
  if environment then environment[key] = value end
  return environment ~= nil
end

-- The locals of the frame in order, then the upvalues: { name, value, kind }.
local function variables()
  local here = frame()
  local found, number = {}, 1
  while here do
    local name, value = debug.getlocal(here.thread, here.level, number)
    if not name then break end
    if name:sub(1, 1) ~= "(" then found[#found + 1] = { name, value, "local" } end
    number = number + 1
  end
  number = 1
  while here do
    local name, value = debug.getupvalue(here.info.func, number)
    if not name then break end
    if name ~= "_ENV" and name ~= "" then found[#found + 1] = { name, value, "upvalue" } end
    number = number + 1
  end
  return found
end
breakpoint.variables = variables

--- A table with the names that the stopped function and a session see.
function breakpoint.names(own)
  local names = {}
  for name, value in pairs(own) do names[name] = value end
  for _, variable in ipairs(variables()) do names[variable[1]] = variable[2] or false end
  return names
end

--- The calls that led here, with the current one marked.
function breakpoint.trace()
  local stop = current()
  if not stop then return nil, "the program is not stopped at a breakpoint" end
  local lines = { stop.title }
  for place, one in ipairs(stop.frames) do
    if one.resumes then lines[#lines + 1] = "      resumed by" end
    lines[#lines + 1] = ("%s %d  %s"):format(
      place == stop.at and "->" or "  ", place, frames.words(one))
    if one.left_out then lines[#lines + 1] = ("      (%d more calls)"):format(one.left_out) end
  end
  return table.concat(lines, "\n")
end

--- Selects another of the calls.
function breakpoint.move(by)
  local stop = current()
  if not stop then return nil, "the program is not stopped at a breakpoint" end
  local to = stop.at + by
  if not stop.frames[to] then
    return nil, by > 0 and "that is the outermost call" or "that is the innermost call"
  end
  stop.at = to
  return ("%d  %s"):format(to, frames.words(stop.frames[to]))
end

local function tell(what, ...)
  for _, console in pairs(breakpoint.consoles) do pcall(console[what], console, ...) end
end

-- Leaves the innermost breakpoint if it is over. Only then can the one around it be left.
local function leave()
  local stop = stops[#stops]
  if not stop or not stop.is_over then return end
  stop.hold:signal()
  loop:wake_up()
end

-- Notify the consoles at once: input from now on is for what comes next.
local function release(stop)
  if stop.is_over then return end
  stop.is_over = true
  tell "continued"
  leave()
end

--- Continues the program, if it is stopped at a breakpoint.
function breakpoint.continue()
  local stop = current()
  if not stop then return nil, "the program is not stopped at a breakpoint" end
  release(stop)
  return true
end

--- A console has closed. After the last one, ":continue" could not be typed any more.
function breakpoint.lost_console()
  if next(breakpoint.consoles) then return end
  local released = false
  for place = #stops, 1, -1 do
    local stop = stops[place]
    if not stop.waits and not stop.is_over then
      released = true
      release(stop)
    end
  end
  if not released then return end
  io.stderr:write("moonloop: the last console has left the breakpoint: the program continues\n")
end

local function stand_up(stop)
  release(stop)
  stops[#stops] = nil
  stop.hold:invalidate()
  host.start_clock()
  leave()
end

-- Serves the console until ":continue".
local function serve(stop)
  stop.hold = loop:source {
    name = "breakpoint", modes = "moonloop.debug",
    perform = function() if stop.is_over then loop:stop() end end,
  }
  stops[#stops + 1] = stop
  host.stop_clock()
  -- Any other stop or failure of this run means that the program should continue or end.
  local _ <close> = setmetatable({}, { __close = function() stand_up(stop) end })
  tell("stopped", breakpoint.trace())
  loop:run { mode = "moonloop.debug" }
end

-- Reported once: a run without a console must not hang.
local has_told = false

local function tell_of_consoles(where, can_wait)
  if has_told then return end
  has_told = true
  local advice = "Consoles see only the main loop of 'moonloop run', 'repl' and 'test', "
    .. "not workers."
  if host.is_reachable() then
    local others = can_wait and ",\n  or wait for one: ml.break_here { wait = true }" or "."
    advice = ("Run it at a terminal, or attach a console first: 'moonloop attach %d'%s")
      :format(host.number(), others)
  end
  io.stdout:flush()
  io.stderr:write(
    ("moonloop: no console for the breakpoint at %s: the program continues.\n  %s\n"):format(
      where, advice))
end

-- Whether ":quit" at a breakpoint has asked for no further stops at failures.
local has_quit = false

local function leave_terminal(quits)
  has_quit = has_quit or quits
  breakpoint.continue()
end

-- A console at the program's terminal, while the program is stopped; nil if it has none.
local function open_terminal()
  local has_editor = pcall(require, "moonloop.console.editor")
  return has_editor and require("moonloop.console.repl").open(leave_terminal) or nil
end

--- Stops until ":continue". Returns whether it did.
--- @param options { wait: boolean, title: string, frames: table }
function breakpoint.enter(options)
  local calls = options.frames
  if not calls then
    local thread = coroutine.running()
    calls = frames.of(thread)
    frames.add_outer(calls, thread, host.base())
  end
  local close = not next(breakpoint.consoles) and open_terminal()
  if not next(breakpoint.consoles) and not (options.wait and host.is_reachable()) then
    tell_of_consoles(frames.place(calls), not options.frames)
    return false
  end
  if not next(breakpoint.consoles) then
    io.stderr:write(("moonloop: stopped at %s; open a console with 'moonloop attach %d'\n"):format(
      frames.place(calls), host.number()))
  end
  serve {
    frames = calls, at = 1, waits = options.wait,
    title = options.title or "breakpoint at " .. frames.place(calls),
  }
  if close then close() end
  return true
end

--- `ml.break_here(options)`.
function breakpoint.here(options)
  return breakpoint.enter { wait = check("ml.break_here", options, { wait = "any" }).wait }
end

--- Whether an error value is no failure, so that no breakpoint is wanted for it.
function breakpoint.is_expected() return false end

--- An uncaught error has ended a coroutine, whose stack is still as it was.
function breakpoint.failed(thread, message, value)
  if has_quit or breakpoint.is_expected(value) then return end
  breakpoint.enter { frames = frames.of(thread), title = "error: " .. message }
end

--- Stops the program where it is: in the busy call-out, or between two call-outs.
function breakpoint.stop_here()
  local busy = breakpoint.busy
  if not busy then return breakpoint.enter { title = "stopped", frames = {} } end
  breakpoint.busy = nil
  local calls = frames.of(busy.thread)
  frames.add_outer(calls, busy.thread, busy.base)
  local _, done = pcall(breakpoint.enter, {
    title = ("stopped in %s at %s"):format(busy.who, frames.place(calls)), frames = calls,
  })
  breakpoint.busy = busy
  return done
end

--- What keeps the loop busy while the console is served, as text; nil if nothing does.
function breakpoint.busy_text()
  local busy = breakpoint.busy
  if not busy or busy.is_console then return nil end
  return ("busy for at least %.1f s: %s, at %s; :break or Ctrl-C stops it there"):format(
    busy.seconds, busy.who, frames.place(frames.of(busy.thread)))
end

--- Whether the program is stopped at a breakpoint.
function breakpoint.is_stopped() return current() ~= nil end

--- Whether a breakpoint is over and its run has yet to return.
function breakpoint.is_leaving()
  local stop = stops[#stops]
  return stop ~= nil and stop.is_over
end

--- The depth of nested breakpoints.
function breakpoint.depth()
  local depth = 0
  for _, stop in ipairs(stops) do depth = depth + (stop.is_over and 0 or 1) end
  return depth
end

return breakpoint
