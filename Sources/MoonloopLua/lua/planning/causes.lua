-- Why a timer missed fires or waited without another call's fault, in sentences: for simulations,
-- and for the metrics and traces of runs. `WaitLog` has decided what counts as what.
local units = require "moonloop.text.units"

local causes = {}

-- Whether a wait is worth a line; a timer that fires once misses nothing.
local LONG = 0.1
function causes.matters(missed, time) return missed > 0 or time >= LONG end

-- The causes beside nested runs, in the order of `HeldCause`.
local WORDS = {
  { "no_mode", "held-back", "because it was in no mode" },
  { "not_running", "held-back", "because the loop was not running" },
  { "mode", "held-back", "because its mode did not run" },
  { "clock", "clock-hold", "by a clock hold" },
}

-- The sentences about a timer: { rule, text, by } each. It has the fields label; every, in seconds,
-- if known; fires; own_missed; held, by cause { time, missed }; and nests, with { by, label, mode,
-- time, missed } each.
function causes.of(timer)
  local found = {}
  local function add(rule, missed, time, words, by)
    if not causes.matters(missed, time) then return end
    local what = missed > 0 and "missed " .. units.plural(missed, "fire")
      or "was held back " .. units.measured(time)
    found[#found + 1] = { rule = rule, by = by,
      text = ("%s %s %s"):format(timer.label, what, words) }
  end
  for _, nest in ipairs(timer.nests) do
    add("held-back", nest.missed, nest.time, ("while %s ran the loop in mode '%s'"):format(
      nest.label, nest.mode), nest.by)
  end
  for _, row in ipairs(WORDS) do
    local held = timer.held[row[1]]
    -- A moment between two runs may be the machine's fault.
    local is_moment = row[1] == "not_running" and held and held.time < LONG
    if held and not is_moment then add(row[2], held.missed, held.time, row[3]) end
  end
  -- A fire or two may be the machine's fault.
  if timer.own_missed * 20 > timer.fires then
    found[#found + 1] = { rule = "outlasts-interval",
      text = ("%s%s missed %s because its own handler had not returned"):format(timer.label,
        timer.every and (" (every %s)"):format(units.time(timer.every)) or "",
        units.plural(timer.own_missed, "fire")) }
  end
  return found
end

return causes
