-- The result of `loop:metrics` as text: a head of two lines, and a row for each handle.
local layout = require "moonloop.text.layout"
local lists = require "moonloop.text.lists"
local quoting = require "moonloop.text.quoting"
local units = require "moonloop.text.units"

local figures = {}

-- How to match a handle between two looks.
local function key(row) return table.concat({ row.kind, row.name, row.made_at }, "\0") end

local CAUSES = { "timer", "fd", "port", "source", "perform", "main_queue", "observer", "nothing" }

-- What grows from look to look.
local SUMS = { "calls", "missed", "wake_ups", "busy" }
local HELD_SUMS = { "count", "missed", "total", "no_mode", "not_running", "mode", "nested_run",
  "handler", "clock" }

-- A copy of figures, some of them less what they were before.
local function less(now, before, names)
  local copy = lists.copy(now)
  for _, name in ipairs(names) do copy[name] = now[name] - (before[name] or 0) end
  return copy
end

--- What happened between two looks: counts and times of the later less those of the earlier, and
--- the percentiles since the start. Without an earlier look: since the start.
function figures.between(now, before)
  before = before or { measured = 0, passes = 0, wake_ups = 0, idle = 0, busy = 0, causes = {},
    handles = {} }
  if before.measured > now.measured then return figures.between(now) end  -- measuring began again
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
    local old = known[key(row)] or {}
    local copy = less(row, old, SUMS)
    if row.held then copy.held = less(row.held, old.held or {}, HELD_SUMS) end
    made.handles[place] = copy
  end
  return made
end

local ORDERS = {
  busy = function(row) return row.busy end,
  calls = function(row) return row.calls end,
  late = function(row) return row.late and row.late.max or 0 end,
  held = function(row) return row.held and row.held.max or 0 end,
  max = function(row) return row.duration.max end,
}

--- The names by which rows can be sorted.
figures.orders = { "busy", "calls", "held", "late", "max" }

-- Whether a row belongs to a console: it answers one, or wakes the loop for it.
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
  return time > 0 and units.count(count / time) or "-"
end

local function head(made)
  local causes = {}
  for _, name in ipairs(CAUSES) do
    if (made.causes[name] or 0) > 0 then
      causes[#causes + 1] = ("%s %s"):format(name, units.count(made.causes[name]))
    end
  end
  local for_what = #causes > 0 and " (" .. table.concat(causes, ", ") .. ")" or ""
  local live = made.live
  return {
    ("%s of %s: busy %s, asleep %s; %s, %s"):format(units.measured(made.time),
      made.loop, percent(made.busy, made.time), percent(made.idle, made.time),
      units.plural(made.passes, "pass"):gsub("passs$", "passes"),
      units.plural(made.wake_ups, "wake-up") .. for_what),
    ("%s clock, %s; %s, %s, %s, %s"):format(made.clock,
      made.mode and ("mode '%s', depth %d"):format(made.mode, made.depth) or "not running",
      units.plural(live.timers, "timer"), units.plural(live.items, "other item"),
      units.plural(live.tasks, "task"), units.plural(live.requests, "request")),
  }
end

local function named(row)
  if row.name == "" and row.made_at == "" then return row.kind end
  return row.name == "" and ("%s (made at %s)"):format(row.kind, row.made_at)
    or ("%s '%s'"):format(row.kind, row.name)
end

-- The row with the greatest figure of a kind; nil if none has one.
local function worst_of(sorted, figure)
  local worst, most
  for _, row in ipairs(sorted) do
    local value = figure(row)
    if value and (not worst or value > most) then worst, most = row, value end
  end
  return worst
end

-- The call that keeps the loop, what came latest, and what was held back longest: a line each, with
-- an empty one before them.
local function notes(made, sorted)
  local lines = {}
  if made.under_way then
    lines[1] = ("%s is running, for %s so far."):format(made.under_way.by,
      units.measured(made.under_way.took))
  end
  local worst = worst_of(sorted, function(row) return row.made_late and row.made_late[1].late end)
  if worst then
    local late = worst.made_late[1]
    local also = worst.made_late[2]
    also = also and also.late == late.late and (", and %s of %s %s"):format(
      also.calls == 1 and "one" or also.calls, also.by, units.measured(also.took)) or ""
    lines[#lines + 1] = ("%s came %s late because %s of %s took %s%s."):format(named(worst),
      units.measured(late.late), late.calls == 1 and "a call" or units.plural(late.calls, "call"),
      late.by, units.measured(late.took), also)
  end
  local held = worst_of(sorted, function(row) return row.held and row.held.by and row.held.max end)
  if held then
    local by = held.held.by
    lines[#lines + 1] = ("%s was held back %s%s %s."):format(named(held),
      units.measured(held.held.max), by:find "^%d" and ":" or "", by)
  end
  if #lines > 0 then table.insert(lines, 1, "") end
  return lines
end

-- The columns. Those with `leaves` are dropped, in that order, where there is no room.
local COLUMNS = {
  { title = "KIND", left = true, leaves = 9, of = function(row) return row.kind end },
  { title = "NAME", left = true, least = 8,
    of = function(row) return row.name == "" and "-" or quoting.plain(row.name) end },
  { title = "MADE AT", left = true, leaves = 8, most = 32, least = 12, tail = true,
    of = function(row) return quoting.plain(row.made_at) end },
  { title = "BUSY", of = function(row, time) return percent(row.busy, time) end },
  { title = "CALLS/S", leaves = 7, of = function(row, time) return rate(row.calls, time) end },
  { title = "CALLS", leaves = 2, of = function(row) return units.count(row.calls) end },
}
for place, name in ipairs { "p50", "p99", "max" } do
  COLUMNS[#COLUMNS + 1] = { title = name == "max" and "MAX" or name, leaves = ({ 3, 6 })[place],
    of = function(row) return units.measured(row.duration[name]) end }
end
for place, name in ipairs { "p50", "p99", "max" } do
  COLUMNS[#COLUMNS + 1] = { title = ({ "LATE p50", "p99", "MAX" })[place], late = true,
    leaves = ({ 1, 4, 10 })[place],
    of = function(row) return row.late and units.measured(row.late[name]) or "-" end }
end
COLUMNS[#COLUMNS + 1] = { title = "MISSED", leaves = 5,
  of = function(row) return units.count(row.missed) end }
COLUMNS[#COLUMNS + 1] = { title = "HELD MAX", leaves = 5.5,
  of = function(row) return row.held and units.measured(row.held.max) or "-" end }
COLUMNS[#COLUMNS + 1] = { title = "HELD MISSED", leaves = 4.5,
  of = function(row) return row.held and units.count(row.held.missed) or "-" end }

COLUMNS[#COLUMNS + 1] = { title = "GUEST USES", left = true, leaves = 5.2,
  is_there = function(row) return row.usage end,
  of = function(row)
    local usage = row.usage
    if not usage then return "-" end
    return ("%d kB, %s, %s"):format(usage.memory // 1000, units.plural(usage.handles, "handle"),
      units.plural(usage.stops, "stop"))
  end }

-- The text of a cell within this many columns; of a long path the end is kept.
local function fitting(column, text, most)
  return most and layout.short(text, most, column.tail) or text
end

-- How many terminal columns a column takes.
local function width_of(column, cells, most)
  local width = layout.width(column.title)
  for _, text in ipairs(cells) do
    width = math.max(width, layout.width(fitting(column, text, most)))
  end
  return width
end

-- The columns to show, and their maximum widths, so that all fit: paths and names are shortened
-- first, then columns dropped.
local function columns_of(cells, room)
  local columns, most = {}, {}
  for _, column in ipairs(COLUMNS) do
    if cells[column] then columns[#columns + 1], most[column] = column, column.most end
  end
  if not room then return columns, most end
  local function excess()
    local sum = -2
    for _, column in ipairs(columns) do
      sum = sum + 2 + width_of(column, cells[column], most[column])
    end
    return sum - room
  end
  local function shrink(least)
    for _, column in ipairs(columns) do
      local over = excess()
      if over > 0 and column.least then
        local width = width_of(column, cells[column], most[column])
        most[column] = math.max(least or column.least, math.min(width, width - over))
      end
    end
  end
  shrink(20)
  while excess() > 0 do
    local first
    for place, column in ipairs(columns) do
      if column.leaves and (not first or column.leaves < columns[first].leaves) then
        first = place
      end
    end
    if not first then break end
    table.remove(columns, first)
  end
  shrink()
  return columns, most
end

-- The table of the rows, as lines. A title over several columns is written over the first.
local function table_of(sorted, made, options, room)
  local cells = {}
  for _, column in ipairs(COLUMNS) do
    local texts, is_there = {}, not column.is_there
    for place, row in ipairs(sorted) do
      is_there = is_there or column.is_there(row)
      if place <= room then texts[place] = column.of(row, made.time) end
    end
    if is_there then cells[column] = texts end
  end
  local columns, most = columns_of(cells, options.width)
  local rows, right, is_late = { {} }, {}, false
  for place, column in ipairs(columns) do
    local title = column.title
    if column.late then
      title = (is_late and "" or "LATE ") .. title:gsub("^LATE ", "")
      is_late = true
    end
    rows[1][place], right[place] = title, not column.left
    for number, text in ipairs(cells[column]) do
      rows[number + 1] = rows[number + 1] or {}
      rows[number + 1][place] = fitting(column, text, most[column])
    end
  end
  local lines = layout.columns(rows, "", right)
  if #sorted > room then lines[#lines + 1] = ("(%d more)"):format(#sorted - room) end
  return lines
end

-- Cuts lines to the width of the terminal.
local function wrapped(lines, width)
  if not width then return lines end
  local made = {}
  for _, line in ipairs(lines) do
    local parts = line == "" and { "" } or layout.wrap(line, width)
    table.move(parts, 1, #parts, #made + 1, made)
  end
  return made
end

--- The text of what `between` returned: { sort, width, height, is_console }. For a console, its own
--- handles are left out.
function figures.text(made, options)
  options = options or {}
  local sorted = sort(made.handles, options)
  local lines = wrapped(head(made), options.width)
  local below = wrapped(notes(made, sorted), options.width)
  local room = math.huge
  if options.height then
    -- Leave room for the cursor's line, an empty line, the titles and "(n more)".
    if options.height < #lines + #below + 7 then below = {} end
    if options.height < #lines + 7 then lines = { lines[1] } end
    room = math.max(1, options.height - #lines - #below - 4)
  end
  lines[#lines + 1] = ""
  local middle = #sorted == 0 and { "No handler has returned yet." }
    or table_of(sorted, made, options, room)
  table.move(middle, 1, #middle, #lines + 1, lines)
  table.move(below, 1, #below, #lines + 1, lines)
  for place, line in ipairs(lines) do
    if options.width then lines[place] = layout.cut(line, options.width) end
  end
  return table.concat(lines, "\n") .. "\n"
end

return figures
