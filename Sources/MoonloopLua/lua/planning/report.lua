-- What simulations did, as tables for people and as plain data; two can stand side by side.
local layout = require "moonloop.text.layout"
local units = require "moonloop.text.units"

local report = {}

local WHY = {
  finished = "nothing was left", stopped = "was stopped", timed_out = "timed out",
  handled_source = "handled a source", goes_on = "still runs", exit = "ended the program",
}

-- Figures of the whole loop: { name, value, format }.
local function totals(result)
  local time = result.time > 0 and result.time or 1
  local busy = 0
  for _, row in ipairs(result.rows) do busy = busy + row.busy end
  return {
    { "time", result.time, units.time },
    { "passes", result.passes, units.count },
    { "wake-ups", result.wake_ups, units.count },
    { "wake-ups an hour", result.wake_ups * 3600 / time, units.count },
    { "asleep", result.slept / time * 100, function(v) return ("%.2f %%"):format(v) end },
    { "busy, real time", busy, units.measured, varies = true },
  }
end

local COLUMNS = {
  { "fires", "fires", units.count }, { "missed", "missed", units.count },
  { "late max", "late_max", units.measured }, { "late mean", "late_mean", units.measured },
  { "held back", "held_max", units.measured }, { "held missed", "held_missed", units.count },
  { "wake-ups", "wake_ups", units.count }, { "busy", "busy", units.measured },
  { "longest", "busy_max", units.measured },
}

local function put(lines, more)
  table.move(more, 1, #more, #lines + 1, lines)
end

local function phase_lines(result, lines)
  lines[#lines + 1] = "Phases"
  local rows = {}
  for place, phase in ipairs(result.plan.phases) do
    local one = result.phases[place]
    rows[place] = one
      and { tostring(place), phase.mode, units.time(one.from) .. " to " .. units.time(one.to),
        WHY[one.why] or one.why }
      or { tostring(place), phase.mode, "never began", "" }
  end
  put(lines, layout.columns(rows, "  "))
end

-- All columns but the first.
local RIGHT = setmetatable({}, { __index = function(_, place) return place > 1 end })

local function item_lines(result, lines)
  local head = { "Items" }
  for _, column in ipairs(COLUMNS) do head[#head + 1] = column[1] end
  local rows, section = { head }, nil
  for _, row in ipairs(result.rows) do
    if row.section ~= section then
      section = row.section
      rows[#rows + 1] = { "  " .. section }
    end
    local cells = { "    " .. row.name }
    for _, column in ipairs(COLUMNS) do cells[#cells + 1] = column[3](row[column[2]]) end
    if row.stand_in and row.fires == 0 then
      cells = { "    " .. row.name .. "  (gets no events in a simulation; see --input)" }
      rows[#rows + 1] = { text = cells[1] }
    else
      rows[#rows + 1] = cells
    end
  end
  -- Notes are outside the columns.
  local tabular = {}
  for _, row in ipairs(rows) do tabular[#tabular + 1] = row.text and { "" } or row end
  for place, line in ipairs(layout.columns(tabular, "", RIGHT)) do
    lines[#lines + 1] = rows[place].text or line
  end
end

local function cause_lines(result, lines)
  for place, cause in ipairs(result.causes) do
    if place == 1 then lines[#lines + 1] = "" end
    put(lines, layout.wrap(cause.text .. ".", 100))
  end
end

local function failure_lines(result, lines)
  if result.stands_still then
    lines[#lines + 1] = ""
    lines[#lines + 1] = ("The clock stands still at %s: something is always ready, so the loop "
      .. "never sleeps."):format(units.time(result.time))
  end
  if #result.failures == 0 then return end
  lines[#lines + 1] = ""
  lines[#lines + 1] = units.plural(#result.failures, "failure") .. (#result.failures > 1
    and "; the first:" or ":")
  for line in result.failures[1]:gmatch "[^\n]+" do lines[#lines + 1] = "  " .. line end
end

local function one_text(result)
  local note = result.clock == "skip_idle" and ", in real time while busy" or ""
  local lines = { result.name .. note, "" }
  phase_lines(result, lines)
  lines[#lines + 1] = ""
  local rows = {}
  for _, total in ipairs(totals(result)) do
    rows[#rows + 1] = { total[1], total[3](total[2]) }
  end
  lines[#lines + 1] = "Loop"
  put(lines, layout.columns(rows, "  "))
  lines[#lines + 1] = ""
  item_lines(result, lines)
  cause_lines(result, lines)
  failure_lines(result, lines)
  return table.concat(lines, "\n") .. "\n"
end

-- ── two runs ────────────────────────────────────────────────────────────────────────────────────

-- The difference of the second number from the first.
local function difference(first, second)
  if first == second then return "=" end
  if first == 0 then return "new" end
  local percent = (second - first) / first * 100
  return ("%+.1f %%"):format(percent)
end

local function compare_totals(first, second, lines)
  local rows = { { "Loop", first.name, second.name, "" } }
  local others = totals(second)
  for place, total in ipairs(totals(first)) do
    local other = others[place]
    rows[#rows + 1] = { "  " .. total[1], total[3](total[2]), total[3](other[2]),
      total.varies and "" or difference(total[2], other[2]) }
  end
  put(lines, layout.columns(rows, "", { [2] = true, [3] = true, [4] = true }))
end

local function compare_items(first, second, lines)
  local others, order = {}, {}
  for _, row in ipairs(second.rows) do others[row.section .. "\0" .. row.name] = row end
  for _, row in ipairs(first.rows) do
    local key = row.section .. "\0" .. row.name
    order[#order + 1] = { row, others[key] }
    others[key] = nil
  end
  for _, row in ipairs(second.rows) do
    if others[row.section .. "\0" .. row.name] then order[#order + 1] = { nil, row } end
  end
  local rows = { { "Items", "", first.name, second.name, "" } }
  for index = 1, #order do
    local one, other = order[index][1], order[index][2]
    local label = ("  %s %s"):format((one or other).section, (one or other).name)
    for _, column in ipairs(COLUMNS) do
      local a, b = one and one[column[2]] or 0, other and other[column[2]] or 0
      local is_real = column[2]:find "^busy"
      if not is_real and (column[2] == "fires" or a ~= b) then
        rows[#rows + 1] = { label, column[1], one and column[3](a) or "-",
          other and column[3](b) or "-", one and other and difference(a, b) or "" }
        label = ""
      end
    end
  end
  put(lines, layout.columns(rows, "", { [3] = true, [4] = true, [5] = true }))
end

local function both_text(first, second)
  local lines = {}
  compare_totals(first, second, lines)
  lines[#lines + 1] = ""
  compare_items(first, second, lines)
  for _, result in ipairs { first, second } do
    local more = {}
    failure_lines(result, more)
    if #more > 0 then
      lines[#lines + 1] = ""
      lines[#lines + 1] = result.name
      put(lines, table.move(more, 2, #more, 1, {}))
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

-- A run in one sentence.
function report.summary(result)
  local parts = {}
  for _, total in ipairs(totals(result)) do
    parts[#parts + 1] = total[1] .. " " .. total[3](total[2])
  end
  return table.concat(parts, " · ")
end

-- A table of the items, titles first.
function report.item_rows(result)
  local rows = { { "item" } }
  for _, column in ipairs(COLUMNS) do table.insert(rows[1], column[1]) end
  for _, row in ipairs(result.rows) do
    local cells = { row.section .. ": " .. row.name }
    for _, column in ipairs(COLUMNS) do cells[#cells + 1] = column[3](row[column[2]]) end
    rows[#rows + 1] = cells
  end
  return rows
end

-- One or two results as lines for people.
function report.text(results)
  if results[2] then return both_text(results[1], results[2]) end
  return one_text(results[1])
end

-- One or two results as plain data, times in seconds.
function report.data(results)
  local all = {}
  for place, result in ipairs(results) do
    local data = { file = result.name, time = result.time, clock = result.clock,
      phases = result.phases, items = {}, failures = result.failures,
      stands_still = result.stands_still, loop = {}, causes = {} }
    for _, total in ipairs(totals(result)) do
      data.loop[total[1]:gsub(",.*", ""):gsub("[%s-]", "_")] = total[2]
    end
    for index, row in ipairs(result.rows) do
      data.items[index] = { section = row.section, name = row.name, line = row.line,
        fires = row.fires, missed = row.missed, late_max = row.late_max,
        late_mean = row.late_mean, held_max = row.held_max, held_missed = row.held_missed,
        own_missed = row.own_missed,
        wake_ups = row.wake_ups, busy = row.busy,
        busy_max = row.busy_max }
    end
    for number, cause in ipairs(result.causes) do data.causes[number] = cause.text end
    all[place] = data
  end
  return { runs = all }
end

return report
