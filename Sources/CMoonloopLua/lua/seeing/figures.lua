-- What `loop:metrics` gave, as text: a head of two lines, and a row for each handle.
local words = require "moonloop.planning.words"

local figures = {}

-- Where the figures of a handle are found again.
local function key(row) return table.concat({ row.kind, row.name, row.made_at }, "\0") end

local CAUSES = { "timer", "fd", "port", "source", "perform", "main_queue", "observer", "nothing" }

--- What happened between two looks: counts and times of the later less those of the earlier, and
--- the percentiles since the begin. Without an earlier look: since the begin.
function figures.between(now, before)
  before = before or { measured = 0, passes = 0, wake_ups = 0, idle = 0, busy = 0, causes = {},
    handles = {} }
  if before.measured > now.measured then return figures.between(now) end  -- it began anew
  local made = { loop = now.loop, clock = now.clock, mode = now.mode, depth = now.depth,
    live = now.live, under_way = now.under_way, causes = {}, handles = {}, measured = now.measured,
    time = now.measured - before.measured }
  for _, name in ipairs { "passes", "wake_ups", "idle", "busy" } do
    made[name] = now[name] - before[name]
  end
  for name, count in pairs(now.causes) do
    made.causes[name] = count - (before.causes[name] or 0)
  end
  local known = {}
  for _, row in ipairs(before.handles) do known[key(row)] = row end
  for place, row in ipairs(now.handles) do
    local old = known[key(row)] or { calls = 0, missed = 0, wake_ups = 0, busy = 0 }
    local copy = {}
    for name, value in pairs(row) do copy[name] = value end
    for _, name in ipairs { "calls", "missed", "wake_ups", "busy" } do
      copy[name] = row[name] - old[name]
    end
    made.handles[place] = copy
  end
  return made
end

local ORDERS = {
  busy = function(row) return row.busy end,
  calls = function(row) return row.calls end,
  late = function(row) return row.late and row.late.max or 0 end,
  max = function(row) return row.duration.max end,
}

--- The names by which rows can be sorted.
figures.orders = { "busy", "calls", "late", "max" }

-- Whether a row is what answers a console, or wakes the loop for one.
local function is_console(row)
  return row.kind == "block" or row.made_at:find "^moonloop/console" or row.made_at:find "^console:"
end

local function sort(rows, options)
  local value = ORDERS[options.sort or "busy"]
  local sorted, places = {}, {}
  for place, row in ipairs(rows) do
    if not (options.is_console and is_console(row)) then
      sorted[#sorted + 1], places[row] = row, place
    end
  end
  table.sort(sorted, function(a, b)
    local left, right = value(a), value(b)
    if left ~= right then return left > right end
    return places[a] < places[b]
  end)
  return sorted
end

local function percent(part, whole)
  return whole > 0 and ("%.1f %%"):format(part / whole * 100) or "-"
end

local function rate(count, time)
  return time > 0 and words.count(count / time) or "-"
end

local function head(made)
  local causes = {}
  for _, name in ipairs(CAUSES) do
    if (made.causes[name] or 0) > 0 then
      causes[#causes + 1] = ("%s %s"):format(name, words.count(made.causes[name]))
    end
  end
  local for_what = #causes > 0 and " (" .. table.concat(causes, ", ") .. ")" or ""
  local live = made.live
  return {
    ("%s of %s: busy %s, asleep %s; %s, %s"):format(words.measured(made.time),
      made.loop, percent(made.busy, made.time), percent(made.idle, made.time),
      words.plural(made.passes, "pass"):gsub("passs$", "passes"),
      words.plural(made.wake_ups, "wake-up") .. for_what),
    ("%s clock, %s; %s, %s, %s, %s"):format(made.clock,
      made.mode and ("mode '%s', depth %d"):format(made.mode, made.depth) or "not running",
      words.plural(live.timers, "timer"), words.plural(live.items, "other item"),
      words.plural(live.tasks, "task"), words.plural(live.requests, "request")),
  }
end

-- The call that keeps the loop, and what came latest, each with an empty line before it.
local function notes(made, sorted)
  local lines = {}
  if made.under_way then
    lines[1] = ("%s runs now, for %s so far."):format(made.under_way.by,
      words.measured(made.under_way.took))
  end
  local worst
  for _, row in ipairs(sorted) do
    local one = row.made_late
    if one and (not worst or one.late > worst.made_late.late) then worst = row end
  end
  if worst then
    lines[#lines + 1] = ("%s came %s late, as a call of %s took %s."):format(
      worst.name == "" and ("%s (made at %s)"):format(worst.kind, worst.made_at)
        or ("%s '%s'"):format(worst.kind, worst.name),
      words.measured(worst.made_late.late), worst.made_late.by,
      words.measured(worst.made_late.took))
  end
  if #lines > 0 then table.insert(lines, 1, "") end
  return lines
end

local RIGHT = setmetatable({}, { __index = function(_, place) return place > 3 end })

-- The end of a path says more than its begin.
local function short(text)
  local limit = 32
  return #text > limit and "…" .. text:sub(-limit + 1) or text
end

local function cells(row, time)
  local duration, late = row.duration, row.late
  local function tail(name) return late and words.measured(late[name]) or "-" end
  return { row.kind, row.name == "" and "-" or row.name, short(row.made_at),
    percent(row.busy, time), rate(row.calls, time), words.count(row.calls),
    words.measured(duration.p50), words.measured(duration.p99), words.measured(duration.max),
    tail "p50", tail "p99", tail "max", words.count(row.missed) }
end

--- The text of what `between` made: { sort, rows, width, is_console }; for a console, what answers
--- that is left out.
function figures.text(made, options)
  options = options or {}
  local lines = head(made)
  lines[#lines + 1] = ""
  local rows = { { "KIND", "NAME", "MADE AT", "BUSY", "CALLS/S", "CALLS", "p50", "p99", "MAX",
    "LATE p50", "p99", "MAX", "MISSED" } }
  local sorted = sort(made.handles, options)
  for place, row in ipairs(sorted) do
    if place <= (options.rows or math.huge) then rows[#rows + 1] = cells(row, made.time) end
  end
  if #sorted == 0 then
    lines[#lines + 1] = "No handler has returned yet."
  else
    table.move(words.columns(rows, "", RIGHT), 1, #rows, #lines + 1, lines)
  end
  if #sorted > #rows - 1 then
    lines[#lines + 1] = ("(%d more)"):format(#sorted - #rows + 1)
  end
  local below = notes(made, sorted)
  table.move(below, 1, #below, #lines + 1, lines)
  if options.width then
    for place, line in ipairs(lines) do
      local cut = utf8.offset(line, options.width + 1)
      lines[place] = cut and line:sub(1, cut - 1) or line
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

return figures
