-- A breakpoint is a nested run in which only the console is served, while the loop's clock stands
-- (D39). What stopped stays as it is: its locals and upvalues can be looked at and set.
local ml = require "moonloop"
local host = require "moonloop.console.host"
local loop = ml.current()

local breakpoint = {}

--- The sessions that are told, and what tells them.
breakpoint.consoles = {}

--- The call-out in whose middle the console is served: { thread, who, seconds, is_console }.
breakpoint.busy = nil

-- The breakpoints that the program stands at, the innermost last.
local stops = {}

-- The one that is looked at. What is over is none any more, though it may not be left yet.
local function current()
  for place = #stops, 1, -1 do
    if not stops[place].is_over then return stops[place] end
  end
end

-- Calls of the console, and of the host, are not the program's.
local function is_own(info)
  return info.what == "C" or info.source:sub(1, 10) == "@moonloop/"
    or info.source == "=moonloop"
end

-- How many calls are kept of a stack that has overflowed.
local INNER, OUTER = 40, 5

-- The outermost call of a coroutine, found by halving: Lua walks to each from the innermost one.
local function outermost(thread)
  local low, high = 0, 1
  while debug.getinfo(thread, high, "l") do low, high = high, 2 * high end
  while high - low > 1 do
    local middle = (low + high) // 2
    if debug.getinfo(thread, middle, "l") then low = middle else high = middle end
  end
  return low
end

-- The calls of a coroutine that are the program's, the innermost first; between them may be others.
local function frames_of(thread)
  local frames, level, is_inside, last = {}, 0, true, outermost(thread)
  while true do
    local info = debug.getinfo(thread, level, "Slnfut")
    if not info then break end
    is_inside = is_inside and is_own(info)
    if not is_inside then frames[#frames + 1] = { level = level, info = info } end
    level = level + 1
    if #frames == INNER and last - OUTER > level then
      frames[INNER].left_out = last - OUTER - level
      level = last - OUTER
    end
  end
  while #frames > 0 and is_own(frames[#frames].info) do frames[#frames] = nil end
  return frames
end
breakpoint.frames_of = frames_of

local function words(frame)
  local info = frame.info
  local name = info.name and ("%s '%s'"):format(info.namewhat, info.name)
    or info.what == "main" and "the main chunk" or info.what == "C" and "?"
    or ("function <%s:%d>"):format(info.short_src, info.linedefined)
  if info.what == "C" then return "[C]: in " .. name end
  return ("%s:%d: in %s"):format(info.short_src, info.currentline, name)
end

-- The frame that is looked at; nil if nothing of the program stopped.
local function frame()
  local stop = current()
  return stop and stop.frames[stop.at]
end

-- The innermost local of a name: its number and value.
local function find_local(key)
  local stop, here = current(), frame()
  local found, value, number = nil, nil, 1
  while true do
    local name, present = debug.getlocal(stop.thread, here.level, number)
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

-- The globals of the function, if it has others than everybody. What was typed has a console's.
local function find_environment(func)
  local _, environment = find_upvalue(func, "_ENV")
  if type(environment) ~= "table" or environment == _G then return nil end
  local meta = debug.getmetatable(environment)
  return not (type(meta) == "table" and rawget(meta, "names")) and environment or nil
end

--- Whether a name is one that the stopped function sees, and its value.
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

--- Sets a name of the stopped function; false if it has none of that name.
function breakpoint.set(key, value)
  local here = frame()
  if not here then return false end
  local number = find_local(key)
  if number then return debug.setlocal(current().thread, here.level, number, value) ~= nil end
  number = find_upvalue(here.info.func, key)
  if number then return debug.setupvalue(here.info.func, number, value) ~= nil end
  local environment = find_environment(here.info.func)
  if environment then environment[key] = value end
  return environment ~= nil
end

-- The locals of the frame, in order, the upvalues behind them: { name, value, kind }.
local function variables()
  local stop, here = current(), frame()
  local found, number = {}, 1
  while here do
    local name, value = debug.getlocal(stop.thread, here.level, number)
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

--- The calls that led here, the present one marked.
function breakpoint.trace()
  local stop = current()
  if not stop then return nil, "the program does not stand at a breakpoint" end
  local lines = { stop.title }
  for place, one in ipairs(stop.frames) do
    lines[#lines + 1] = ("%s %d  %s"):format(place == stop.at and "->" or "  ", place, words(one))
    if one.left_out then lines[#lines + 1] = ("      (%d calls more)"):format(one.left_out) end
  end
  return table.concat(lines, "\n")
end

--- Looks at another of the calls.
function breakpoint.move(by)
  local stop = current()
  if not stop then return nil, "the program does not stand at a breakpoint" end
  local to = stop.at + by
  if not stop.frames[to] then
    return nil, by > 0 and "that is the outermost call" or "that is the innermost call"
  end
  stop.at = to
  return ("%d  %s"):format(to, words(stop.frames[to]))
end

local function tell(what, ...)
  for _, console in pairs(breakpoint.consoles) do pcall(console[what], console, ...) end
end

-- Lets the innermost be left, if it is over. Only then the one around it can be.
local function leave()
  local stop = stops[#stops]
  if not stop or not stop.is_over then return end
  stop.hold:signal()
  loop:wake_up()
end

-- The consoles hear of it at once: what is typed from now on is for what comes then.
local function release(stop)
  if stop.is_over then return end
  stop.is_over = true
  tell "continued"
  leave()
end

--- Lets the program go on, if it stands at a breakpoint.
function breakpoint.continue()
  local stop = current()
  if not stop then return nil, "the program does not stand at a breakpoint" end
  release(stop)
  return true
end

--- A console is gone: if it was the last one, nobody could say "continue" any more.
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
  io.stderr:write("moonloop: the last console has left the breakpoint: the program goes on\n")
end

local function stand_up(stop)
  release(stop)
  stops[#stops] = nil
  stop.hold:invalidate()
  host.start_clock()
  leave()
end

-- Serves the console until somebody says "continue".
local function serve(stop)
  stop.hold = loop:source {
    name = "breakpoint", modes = "moonloop.debug",
    perform = function() if stop.is_over then loop:stop() end end,
  }
  stops[#stops + 1] = stop
  host.stop_clock()
  -- Whoever else stops this run, or has it fail, wants the program to go on or to end.
  local _ <close> = setmetatable({}, { __close = function() stand_up(stop) end })
  tell("stopped", breakpoint.trace())
  loop:run { mode = "moonloop.debug" }
end

-- Said once: a run without a console must not hang by an oversight.
local has_told = false

local function tell_of_consoles(where, can_wait)
  if has_told then return end
  has_told = true
  local others = can_wait and ",\n  or wait for one: ml.break_here { wait = true }" or "."
  io.stdout:flush()
  io.stderr:write(
    ("moonloop: no console for the breakpoint at %s: the program goes on.\n"):format(where),
    ("  Attach one before ('moonloop attach %d'), run it by 'moonloop repl FILE'%s\n"):format(
      host.number(), others))
end

local function place_of(frames) return frames[1] and words(frames[1]) or "the console" end

-- A console at the terminal of the program, for as long as it stands; nil if it has none.
local function open_terminal()
  local has_editor = pcall(require, "moonloop.console.editor")
  return has_editor and require("moonloop.console.repl").open(breakpoint.continue) or nil
end

--- Stands still until somebody says "continue". Returns whether it did.
--- @param options { wait: boolean, title: string, thread: thread, frames: table }
function breakpoint.enter(options)
  local thread = options.thread or coroutine.running()
  local frames = options.frames or frames_of(thread)
  local close = not next(breakpoint.consoles) and open_terminal()
  if not next(breakpoint.consoles) and not options.wait then
    tell_of_consoles(place_of(frames), not options.thread)
    return false
  end
  if not next(breakpoint.consoles) then
    io.stderr:write(("moonloop: stands at %s; 'moonloop attach %d' gives a console\n"):format(
      place_of(frames), host.number()))
  end
  serve {
    thread = thread, frames = frames, at = 1, waits = options.wait,
    title = options.title or "breakpoint at " .. place_of(frames),
  }
  if close then close() end
  return true
end

--- `ml.break_here(options)`.
function breakpoint.here(options)
  if options ~= nil and type(options) ~= "table" then
    error(("break_here: takes a table of options, such as { wait = true }; got a %s"):format(
      type(options)), 3)
  end
  for key in pairs(options or {}) do
    if key ~= "wait" then
      error(("break_here: unknown option '%s'; the options are wait"):format(tostring(key)), 3)
    end
  end
  return breakpoint.enter { wait = options and options.wait }
end

--- An error that nobody caught has ended a coroutine, which is as it was.
function breakpoint.failed(thread, message)
  local frames = frames_of(thread)
  breakpoint.enter {
    thread = thread, frames = frames, title = "error: " .. message,
  }
end

--- Stops the program where it is: in the call-out that is busy, or between two.
function breakpoint.stop_here()
  local busy = breakpoint.busy
  if not busy then return breakpoint.enter { title = "stopped", frames = {} } end
  breakpoint.busy = nil
  local frames = frames_of(busy.thread)
  local _, done = pcall(breakpoint.enter, {
    title = ("stopped in %s at %s"):format(busy.who, place_of(frames)),
    thread = busy.thread, frames = frames,
  })
  breakpoint.busy = busy
  return done
end

--- In words, what the loop is busy with while the console is served; nil if it is not.
function breakpoint.busy_text()
  local busy = breakpoint.busy
  if not busy or busy.is_console then return nil end
  return ("busy for at least %.1f s: %s, at %s; :break or Ctrl-C stops it there"):format(
    busy.seconds, busy.who, place_of(frames_of(busy.thread)))
end

--- Whether the program stands at a breakpoint.
function breakpoint.is_stopped() return current() ~= nil end

--- How many breakpoints the program stands at, one inside the other.
function breakpoint.depth()
  local depth = 0
  for _, stop in ipairs(stops) do depth = depth + (stop.is_over and 0 or 1) end
  return depth
end

return breakpoint
