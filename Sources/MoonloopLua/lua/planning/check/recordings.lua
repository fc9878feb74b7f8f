-- The rules for recorded runs: from `moonloop run --record` or `--trace-out`, or from `moonloop top
-- --json`, which prints `loop:metrics`.
local ml = require "moonloop"
local json = require "moonloop.json"
local units = require "moonloop.text.units"

local recordings = {}

local NO_RECORDING =
  " is not a recording: it must be what 'run' wrote with --record or --trace-out, or 'top --json'"

local FEW_TIMES = "%s: note: in a recording a call takes only the time that the script read in it; "
  .. "to find all slow handlers, check what 'run' writes with --trace-out"

-- As a simulation says it.
local HELD = "%s missed %s while %s ran the loop in mode '%s'"

-- Whether what a call did to a timer is worth a line; a timer that fires once misses nothing.
local LONG = 0.1
local function matters(missed, late) return missed > 0 or late >= LONG end

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

-- Counts fires that a timer missed in nested runs of one handler in one mode.
local function note_nest(held, victim, by, mode, missed)
  local key = table.concat({ victim.label, victim.at, by, mode }, "\0")
  local row = held[key]
  if not row then
    row = { victim = victim, by = by, mode = mode, missed = 0 }
    held[key], held[#held + 1] = row, row
  end
  row.missed = row.missed + missed
end

-- What came late in a trace, and for which call: { culprit, took, victim, late, missed } each; and
-- what missed fires in nested runs, as `note_nest` counts it. The trace says so itself: what was
-- held back, and what nested runs took, is no call's fault.
local function late_in_trace(events)
  local found, held = {}, {}
  for _, event in ipairs(events) do
    local arguments = event.args or {}
    local late = (arguments.late_us or 0) / 1e6
    for _, by in ipairs { arguments.late_by, table.unpack(arguments.late_also_by or {}) } do
      if event.ph == "X" and matters(by.missed or 0, late)
        and (by.at ~= arguments.at or by.name ~= event.name) then
        found[#found + 1] = { culprit = { label = label(by.kind, by.name, by.at), at = by.at },
          took = by.took_us / 1e6, calls = by.calls,
          victim = { label = label(event.cat, event.name, arguments.at), at = arguments.at or "" },
          late = late, missed = by.missed or 0 }
      end
    end
    local nest = event.ph == "X" and arguments.nested_by
    if nest then
      note_nest(held, { label = label(event.cat, event.name, arguments.at),
        at = arguments.at or "" }, label(nest.kind, nest.name, nest.at), nest.mode, nest.missed)
    end
  end
  return found, held
end

-- ── metrics ─────────────────────────────────────────────────────────────────────────────────────

local function late_in_metrics(metrics)
  local found, held = {}, {}
  for _, row in ipairs(metrics.handles) do
    local victim = { label = label(row.kind, row.name, row.made_at), at = row.made_at }
    for _, late in ipairs(row.made_late or {}) do
      local name, at = late.by:match "^(.-) %(made at (.-)%)$"
      if at and matters(late.missed, late.late) and (at ~= victim.at or name ~= victim.label) then
        found[#found + 1] = { culprit = { label = name, at = at }, took = late.took,
          calls = late.calls, victim = victim, late = late.late, missed = late.missed }
      end
    end
    for _, nest in ipairs(row.held and row.held.nests or {}) do
      local by = nest.by:match "^(.-) %(made at .-%)$" or nest.by
      note_nest(held, victim, by, nest.mode, nest.missed)
    end
  end
  return found, held
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
    table.sort(row.victims, function(a, b)
      if a.late ~= b.late then return a.late > b.late end
      if a.at ~= b.at then return a.at < b.at end
      return a.label < b.label
    end)
  end
  table.sort(rows, function(a, b)
    if a.took ~= b.took then return a.took > b.took end
    if a.at ~= b.at then return a.at < b.at end
    return a.label < b.label
  end)
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
  local found, held, note
  if text:find "^\x89MLTAP" then
    local trace, message = replayed(path)
    if not trace then return nil, message end
    text, note = trace, FEW_TIMES:format(path)
  elseif not text:find "^%s*[%[{]" then
    return nil, path .. NO_RECORDING
  end
  local whole = not text:find "^%s*%[" and json.decode((text:match "([^\n]+)%s*$"))
  if type(whole) == "table" and type(whole.handles) == "table" then
    found, held = late_in_metrics(whole)
  else
    local events, damaged = events_of(text)
    if damaged then
      return nil, ("%s: line %d is not valid JSON: the recording is damaged"):format(path, damaged)
    end
    if not events then return nil, path .. NO_RECORDING end
    found, held = late_in_trace(events)
  end
  local function add(at, rule, what)
    local place, line = at:match "^(.*):(%d+)$"
    report(place and (file_of(place, paths) or place) or path, tonumber(line) or 1, rule, what)
  end
  for _, row in ipairs(by_culprit(found)) do add(row.at, "starves-others", text_of(row)) end
  for _, row in ipairs(held) do
    add(row.victim.at, "held-back", HELD:format(row.victim.label,
      units.plural(row.missed, "fire"), row.by, row.mode))
  end
  return true, note
end

return recordings
