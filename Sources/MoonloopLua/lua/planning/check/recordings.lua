-- The rules for recorded runs: from `moonloop run --record` or `--trace-out`, or from `moonloop top
-- --json`, which prints `loop:metrics`.
local lists = require "moonloop.text.lists"
local ml = require "moonloop"
local causes = require "moonloop.planning.causes"
local json = require "moonloop.json"
local units = require "moonloop.text.units"

local recordings = {}

local NO_RECORDING =
  " is not a recording: it must be what 'run' wrote with --record or --trace-out, or 'top --json'"

local FEW_TIMES = "%s: note: in a recording a call takes only the time that the script read in it; "
  .. "to find all slow handlers, check what 'run' writes with --trace-out"

-- A task goes on by a timer or an answer, and its name has its kind and where it was made.
local function label(kind, name, at)
  local task = name:match "^(.+) %(made at .-%)$"
  if task then return task end
  local word = kind == "block" and "perform" or kind
  return name ~= "" and name ~= at and name ~= kind and ("%s '%s'"):format(word, name) or word
end

-- ── traces ──────────────────────────────────────────────────────────────────────────────────────

-- The events of a trace: one per line, as we write it, or in any other layout.
local function events_of(text)
  local whole = json.decode(text)
  if type(whole) == "table" then return whole.traceEvents or whole[1] and whole or nil end
  local events, number = {}, 0
  -- That of a program that was killed lacks its end, and perhaps that of its last line.
  for line, rest in text:gmatch "([^\n]*)\n?()" do
    number = number + 1
    local event = json.decode((line:gsub(",%s*$", "")))
    if type(event) == "table" and event.ph then
      events[#events + 1] = event
    elseif #events > 0 and text:find("%S", rest) then
      return nil, number
    end
  end
  return #events > 0 and events or nil
end

-- The record of a timer, as `causes.of` takes it; the events of a trace are added up.
local function timer_of(timers, said, at)
  local key = said .. "\0" .. at
  local timer = timers[key]
  if not timer then
    timer = { label = said, at = at, fires = 0, own_missed = 0, held = {}, nests = {} }
    timers[key], timers[#timers + 1] = timer, timer
  end
  return timer
end

local function add_nest(timer, by, mode, time, missed)
  local key = by .. "\0" .. mode
  local nest = timer.nests[key]
  if not nest then
    nest = { label = by, mode = mode, time = 0, missed = 0 }
    timer.nests[key], timer.nests[#timer.nests + 1] = nest, nest
  end
  nest.time, nest.missed = nest.time + time, nest.missed + missed
end

-- What came late in a trace, and for which call: { culprit, took, victim, late, missed } each; and
-- the timers, as `timer_of` makes them. The trace says so itself: what was held back, and what
-- nested runs took, is no call's fault.
local function late_in_trace(events)
  local found, timers = {}, {}
  for _, event in ipairs(events) do
    local arguments = event.args or {}
    local late = (arguments.late_us or 0) / 1e6
    for _, by in ipairs { arguments.late_by, table.unpack(arguments.late_also_by or {}) } do
      if event.ph == "X" and causes.matters(by.missed or 0, late)
        and (by.at ~= arguments.at or by.name ~= event.name) then
        found[#found + 1] = { culprit = { label = label(by.kind, by.name, by.at), at = by.at },
          took = by.took_us / 1e6, calls = by.calls,
          victim = { label = label(event.cat, event.name, arguments.at), at = arguments.at or "" },
          late = late, missed = by.missed or 0 }
      end
    end
    if event.ph == "X" and arguments.late_us then
      local timer = timer_of(timers, label(event.cat, event.name, arguments.at),
        arguments.at or "")
      timer.fires = timer.fires + 1
      timer.own_missed = timer.own_missed + (arguments.own_missed or 0)
      for cause, part in pairs(arguments.held or {}) do
        local sum = timer.held[cause] or { time = 0, missed = 0 }
        sum.time, sum.missed = sum.time + part.us / 1e6, sum.missed + part.missed
        timer.held[cause] = sum
      end
      local nest = arguments.nested_by
      if nest then
        add_nest(timer, label(nest.kind, nest.name, nest.at), nest.mode, (nest.us or 0) / 1e6,
          nest.missed)
      end
    end
  end
  return found, timers
end

-- ── metrics ─────────────────────────────────────────────────────────────────────────────────────

local function late_in_metrics(metrics)
  local found, timers = {}, {}
  for _, row in ipairs(metrics.handles) do
    local victim = { label = label(row.kind, row.name, row.made_at), at = row.made_at }
    for _, late in ipairs(row.made_late or {}) do
      local name, at = late.by:match "^(.-) %(made at (.-)%)$"
      if at and causes.matters(late.missed, late.late)
        and (at ~= victim.at or name ~= victim.label) then
        found[#found + 1] = { culprit = { label = name, at = at }, took = late.took,
          calls = late.calls, victim = victim, late = late.late, missed = late.missed }
      end
    end
    local timer, held = timer_of(timers, victim.label, victim.at), row.held or {}
    timer.fires, timer.own_missed = timer.fires + row.calls, row.own_missed or 0
    for cause, missed in pairs(held.missed_by or {}) do
      timer.held[cause] = { time = held[cause], missed = missed }
    end
    for _, nest in ipairs(held.nests or {}) do
      add_nest(timer, nest.by:match "^(.-) %(made at .-%)$" or nest.by, nest.mode, nest.time or 0,
        nest.missed)
    end
  end
  return found, timers
end

-- ── findings ────────────────────────────────────────────────────────────────────────────────────

-- One entry per culprit, the longest call first: what it delayed, the latest first.
local function by_culprit(found)
  local rows, known = {}, {}
  for _, one in ipairs(found) do
    local key = one.culprit.label .. "\0" .. one.culprit.at
    local row = known[key]
    if not row then
      row = { label = one.culprit.label, at = one.culprit.at, took = 0, victims = {},
        by_place = {} }
      known[key], rows[#rows + 1] = row, row
    end
    if one.took > row.took then row.took, row.calls = one.took, one.calls end
    local place = one.victim.label .. "\0" .. one.victim.at
    local victim = row.by_place[place]
    if not victim then
      victim = { label = one.victim.label, at = one.victim.at, late = 0, missed = 0 }
      row.by_place[place] = victim
      row.victims[#row.victims + 1] = victim
    end
    victim.late = math.max(victim.late, one.late)
    victim.missed = victim.missed + one.missed
  end
  for _, row in ipairs(rows) do
    table.sort(row.victims, lists.by("-late", "at", "label"))
  end
  table.sort(rows, lists.by("-took", "at", "label"))
  return rows
end

local function text_of(row)
  local worst = row.victims[1]
  local more = #row.victims > 1 and (", and %s late too"):format(
    units.plural(#row.victims - 1, "other handle"):gsub("handle$", "handle came")
      :gsub("handles$", "handles came")) or ""
  local missed = worst.missed > 0 and " and missed " .. units.plural(worst.missed, "fire") or ""
  local calls = (row.calls or 1) == 1 and "a call" or units.plural(row.calls, "call")
  return ("%s of %s took %s: %s (%s) came up to %s late%s%s"):format(calls, row.label,
    units.measured(row.took), worst.label, worst.at, units.measured(worst.late), missed, more)
end

-- Which of the given files a place in a recording refers to.
local function file_of(place, paths)
  for _, path in ipairs(paths) do
    if path == place or path:sub(-#place - 1) == "/" .. place
      or place:sub(-#path - 1) == "/" .. path then
      return path
    end
  end
end

-- The trace of a `run --record` file, made by replaying it; needs nothing else of the run.
-- Returns the trace; or nil and a message.
local function replayed(path)
  local name = os.tmpname()
  local ran, message = ml.process.run { "/proc/self/exe", "replay", "--trace-out", name, path }
  local file = io.open(name, "rb")
  local text = file and file:read "a" or ""
  if file then file:close() end
  os.remove(name)
  if ran and text ~= "" then return text end
  return nil, ("%s cannot be replayed: %s"):format(path, message
    or ran.stderr:gsub("^moonloop: replay: ", ""):match "[^\n]+" or "it ended without a trace")
end

-- Checks a recording. `report(file, line, rule, what)` takes findings; places outside the given
-- paths are reported as recorded. Returns true, and perhaps a note; or nil and a message.
function recordings.check(path, text, paths, report)
  local found, timers, note
  if text:find "^\x89MLTAP" then
    local trace, message = replayed(path)
    if not trace then return nil, message end
    text, note = trace, FEW_TIMES:format(path)
  elseif not text:find "^%s*[%[{]" then
    return nil, path .. NO_RECORDING
  end
  local whole = not text:find "^%s*%[" and json.decode((text:match "([^\n]+)%s*$"))
  if type(whole) == "table" and type(whole.handles) == "table" then
    found, timers = late_in_metrics(whole)
  else
    local events, damaged = events_of(text)
    if damaged then
      return nil, ("%s: line %d is not valid JSON: the recording is damaged"):format(path, damaged)
    end
    if not events then return nil, path .. NO_RECORDING end
    found, timers = late_in_trace(events)
  end
  local function add(at, rule, what)
    local place, line = at:match "^(.*):(%d+)$"
    report(place and (file_of(place, paths) or place) or path, tonumber(line) or 1, rule, what)
  end
  for _, row in ipairs(by_culprit(found)) do add(row.at, "starves-others", text_of(row)) end
  table.sort(timers, lists.by("at", "label"))
  for _, timer in ipairs(timers) do
    for _, cause in ipairs(causes.of(timer)) do add(timer.at, cause.rule, cause.text) end
  end
  return true, note
end

return recordings
