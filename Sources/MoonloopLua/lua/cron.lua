-- loop:cron: timers by schedules of the calendar, each a timer with a date of the wall clock that
-- gets its next date as it fires.
local ml = require "moonloop"
local host = require "moonloop.text.host"
local parse = require "moonloop.cron.schedule"
local spelling = require "moonloop.text.spelling"
local zone = require "moonloop.cron.zone"

local OPTIONS = { "zone", "modes", "name", "tolerance", "keep_alive", "on_error" }
-- How many of the dates that were missed are counted.
local MISSED_LIMIT = 1000

local function mistake(what, hint) host.mistake("loop:cron: " .. what, hint) end

-- What is wrong with the options, and a hint; nil if nothing is.
local function problem_of(options)
  for key in pairs(options) do
    if type(key) == "string" then
      local is_known = false
      for _, name in ipairs(OPTIONS) do is_known = is_known or name == key end
      if not is_known then
        return ("unknown option '%s'"):format(key),
          spelling.hint(key, OPTIONS, "the options are")
      end
    elseif key ~= 1 and key ~= 2 then
      return ("takes a schedule, a handler and named options, got [%s]"):format(tostring(key))
    end
  end
end

-- Counts the dates that have passed since the one that the timer fires for.
local function missed_since(schedule, from, now, offset)
  local missed = 0
  repeat
    from = schedule:next(from, offset)
    if not from or from > now then return missed, from end
    missed = missed + 1
  until missed == MISSED_LIMIT
  return missed, schedule:next(now, offset)
end

-- Makes a timer that fires at the dates of a schedule. As with all that repeat, fires that come
-- while the handler waits are missed ones of the next call.
local function start(loop, schedule, offset, options, handler)
  local due, held, is_busy = schedule:next(ml.wall_time(), offset), 0, false
  local free = setmetatable({}, { __close = function() is_busy = false end })
  local made = { at = due }
  for _, name in ipairs(OPTIONS) do
    if name ~= "zone" then made[name] = options[name] end
  end
  made[1] = function(timer)
    local missed, now = held, ml.wall_time()
    if due <= now then  -- else it was fired by hand
      local passed
      passed, due = missed_since(schedule, due, now, offset)
      missed = missed + passed
    end
    assert(timer:again_at(due))
    held = is_busy and missed + 1 or 0
    if is_busy then return end
    is_busy = true
    local _ <close> = free
    handler(timer, missed)
  end
  local ok, timer, message, code = pcall(loop.timer, loop, made)
  if not ok then error((tostring(timer):gsub("^loop:timer", "loop:cron")), 0) end
  if timer then return timer end
  return nil, (message:gsub("^loop:timer", "loop:cron")), code
end

return function(loop, options, handler)
  if type(options) ~= "table" then options = { options, handler } end
  local problem, hint = problem_of(options)
  if problem then mistake(problem, hint) end
  local schedule
  schedule, problem = parse(options[1])
  if not schedule then mistake(problem) end
  local offset
  offset, problem = zone.named(options.zone)
  if not offset then mistake(problem) end
  if type(options[2]) ~= "function" then
    mistake("the handler must be a function, got " .. host.given(options[2]),
      type(options[2]) == "table"
        and "; options go with the schedule: loop:cron { \"0 3 * * *\", zone = \"UTC\", handler }"
        or nil)
  end
  return start(loop, schedule, offset, options, options[2])
end
