-- What a configuration will be on the loop: its phases in order, its modes, and each item with its
-- modes. Nothing is made.
local positions = require "moonloop.configuration.positions"
local rules = require "moonloop.configuration.rules"
local schema = require "moonloop.configuration.schema"
local sources = require "moonloop.configuration.sources"
local layout = require "moonloop.text.layout"
local lists = require "moonloop.text.lists"
local units = require "moonloop.text.units"

local plan = {}

local function list(value)
  if value == nil then return {} end
  return type(value) == "table" and value or { value }
end

-- The common modes, which always include the default mode.
local function common_modes(value)
  local names = { "default" }
  for _, name in ipairs(list(value.modes and value.modes.common)) do
    if name ~= "default" then names[#names + 1] = name end
  end
  return names
end

-- An item's modes, with "common" replaced by the common modes.
local function expanded(modes, common)
  local found, names = {}, {}
  local function add(name)
    if not found[name] then names[#names + 1] = name end
    found[name] = true
  end
  for _, name in ipairs(modes == nil and { "default" } or list(modes)) do
    if name == "common" then
      for _, one in ipairs(common) do add(one) end
    else
      add(name)
    end
  end
  return names
end

local function timer_words(one)
  local parts = {}
  if one.every then
    parts[1] = "every " .. units.time(one.every)
    if one.first then parts[2] = "first after " .. units.time(one.first) end
  elseif one.cron then
    parts[1] = ("by the calendar, %s%s"):format(one.cron, one.zone and " in " .. one.zone or "")
  elseif one.at then
    parts[1] = "once, at " .. os.date("!%Y-%m-%d %H:%M:%SZ", math.floor(one.at))
  else
    parts[1] = "once, after " .. units.time(one.first)
  end
  if one.tolerance and one.tolerance > 0 then
    parts[#parts + 1] = "up to " .. units.time(one.tolerance) .. " late"
  end
  return table.concat(parts, ", ")
end

local function observer_words(one)
  return "on " .. table.concat(list(one.on), ", ") .. (one.repeats == false and ", once" or "")
end

local function signal_words(one)
  if type(one) ~= "table" or one.handler then return "calls its handler" end
  if one.stop ~= nil then return "stops the phase" end
  return "reloads"
end

-- An item's handlers as text: their names, or "inline" for functions.
local function handler_words(one)
  if type(one) == "function" then return "inline" end
  if type(one) == "string" then return one end
  local names = {}
  for _, key in ipairs { "handler", "perform", "read", "write" } do
    local handler = one[key]
    if handler then names[#names + 1] = type(handler) == "string" and handler or "inline" end
  end
  return table.concat(names, ", ")
end

local SECTIONS = { "timers", "sources", "observers", "signals" }
local DESCRIBE = {
  timers = timer_words, observers = observer_words, signals = signal_words,
  sources = function(one) return sources.kinds[sources.kind_of(one)].words(one) end,
}

local function phase_words(phase)
  local parts = {}
  if phase.timeout then parts[1] = "at most " .. units.time(phase.timeout) end
  if phase.until_handled then parts[#parts + 1] = "until a source was handled" end
  if #parts == 0 then return "until stopped, or nothing is left" end
  return table.concat(parts, ", ")
end

-- Whether an item keeps a run open in its modes.
local function holds(section, one)
  if section == "observers" or section == "signals" then return false end
  return one.keep_alive ~= false
end

local function make_item(doc, section, name, one, common)
  local fields = type(one) == "table" and one or {}
  return {
    section = section, name = name, modes = expanded(fields.modes, common),
    common = lists.contains(list(fields.modes), "common"),
    what = DESCRIBE[section](one), handler = handler_words(one),
    line = positions.line(doc.node, { section, name }), holds = holds(section, fields),
    kind = section == "sources" and sources.kind_of(one) or section:sub(1, -2), value = one,
    every = section == "timers" and one.every or nil,
  }
end

-- The plan of a document without mistakes.
function plan.make(doc)
  local value = doc.value
  local common = common_modes(value)
  local made = { name = doc.name, common = common, items = {}, phases = {}, modes = {} }
  for place, phase in ipairs(value.run or { {} }) do
    made.phases[place] = {
      mode = phase.mode or "default", timeout = phase.timeout, until_handled = phase.until_handled,
      what = phase_words(phase),
      line = value.run and positions.line(doc.node, { "run", place }) or nil,
    }
  end
  for _, section in ipairs(SECTIONS) do
    for _, name in ipairs(rules.sorted_keys(value[section] or {})) do
      made.items[#made.items + 1] =
        make_item(doc, section, name, value[section][name], common)
    end
  end
  plan.find_modes(made)
  return made
end

-- How often an item fires in an hour, on average.
local function per_hour(item)
  if item.every then return 3600 / item.every end
  local cron = type(item.value) == "table" and item.section == "timers" and item.value.cron
  return cron and schema.per_hour(cron) or 0
end

-- All modes that are named: those of the phases first, in order.
function plan.find_modes(made)
  local known = {}
  local function add(name)
    if known[name] then return end
    local mode = { name = name, phases = {}, common = false, holders = 0, fires_per_hour = 0 }
    known[name] = mode
    made.modes[#made.modes + 1] = mode
  end
  for place, phase in ipairs(made.phases) do
    add(phase.mode)
    table.insert(known[phase.mode].phases, place)
  end
  for _, name in ipairs(made.common) do
    add(name)
    known[name].common = true
  end
  for _, item in ipairs(made.items) do
    for _, name in ipairs(item.modes) do
      add(name)
      local mode = known[name]
      if item.holds then mode.holders = mode.holders + 1 end
      mode.fires_per_hour = mode.fires_per_hour + per_hour(item)
    end
  end
end

local function setting_lines(doc)
  local lines, value = {}, doc.value
  local limits = {}
  for _, key in ipairs(rules.sorted_keys(value.limits or {})) do
    local one = value.limits[key]
    limits[#limits + 1] = key .. " " .. (key == "callout" and units.time(one)
      or tostring(math.tointeger(one) or one))
  end
  if #limits > 0 then lines[#lines + 1] = "Limits: " .. table.concat(limits, ", ") end
  if value.on_error then
    lines[#lines + 1] = "After an error: "
      .. (type(value.on_error) == "function" and "a handler decides" or value.on_error)
  end
  return lines
end

local function phase_lines(made, lines)
  lines[#lines + 1] = "Phases"
  local rows = {}
  for place, phase in ipairs(made.phases) do
    local mode = made.modes[1]
    for _, one in ipairs(made.modes) do
      if one.name == phase.mode then mode = one end
    end
    local note = phase.what
    if mode.holders == 0 then note = "ends at once: nothing keeps it open" end
    rows[place] = { tostring(place), phase.mode, note, phase.line and "line " .. phase.line or "" }
  end
  table.move(layout.columns(rows, "  "), 1, #rows, #lines + 1, lines)
end

local function table_lines(made, lines)
  local head = { "Items" }
  for _, mode in ipairs(made.modes) do
    head[#head + 1] = mode.name .. (mode.common and "*" or "")
  end
  local rows, section = { head }, nil
  for _, item in ipairs(made.items) do
    if item.section ~= section then
      section = item.section
      rows[#rows + 1] = { "  " .. section }
    end
    local row = { "    " .. item.name }
    for _, mode in ipairs(made.modes) do
      row[#row + 1] = lists.contains(item.modes, mode.name) and (item.common and "c" or "x") or "."
    end
    row[#row + 1] = item.what .. (item.holds == false and (item.section == "timers"
      or item.section == "sources") and ", keeps no run open" or "")
    row[#row + 1] = item.handler
    row[#row + 1] = item.line > 0 and "line " .. item.line or ""
    rows[#rows + 1] = row
  end
  local texts = layout.columns(rows)
  table.move(texts, 1, #texts, #lines + 1, lines)
  lines[#lines + 1] = ""
  lines[#lines + 1] =
    "x: in the mode; c: in it because it is a common mode (*); .: held back in it"
end

local function load_lines(made, lines)
  local rows = {}
  for _, mode in ipairs(made.modes) do
    if #mode.phases > 0 and mode.fires_per_hour > 0 then
      rows[#rows + 1] = { mode.name, units.count(mode.fires_per_hour) }
    end
  end
  if #rows == 0 then return end
  lines[#lines + 1] = ""
  lines[#lines + 1] = "Timer fires per hour, by mode; each is a wake-up unless it shares one"
  table.move(layout.columns(rows, "  ", { [2] = true }), 1, #rows, #lines + 1, lines)
end

-- A plan as lines for people.
function plan.text(doc, made)
  local lines = { made.name, "" }
  phase_lines(made, lines)
  lines[#lines + 1] = ""
  table_lines(made, lines)
  load_lines(made, lines)
  local settings = setting_lines(doc)
  if #settings > 0 then
    lines[#lines + 1] = ""
    table.move(settings, 1, #settings, #lines + 1, lines)
  end
  return table.concat(lines, "\n") .. "\n"
end

-- A plan as plain data.
function plan.data(made)
  local data = { file = made.name, common_modes = made.common, phases = {}, modes = {}, items = {} }
  for place, phase in ipairs(made.phases) do
    data.phases[place] = { mode = phase.mode, timeout = phase.timeout,
      until_handled = phase.until_handled, line = phase.line }
  end
  for place, mode in ipairs(made.modes) do
    data.modes[place] = { name = mode.name, common = mode.common, phases = mode.phases,
      fires_per_hour = mode.fires_per_hour, keeps_run_open = mode.holders > 0 }
  end
  for place, item in ipairs(made.items) do
    local one = type(item.value) == "table" and item.value or {}
    data.items[place] = { section = item.section, name = item.name, kind = item.kind,
      modes = item.modes, what = item.what, handler = item.handler, line = item.line,
      keeps_run_open = item.holds, every = one.every, first = one.first, at = one.at,
      cron = one.cron, zone = one.zone,
      tolerance = one.tolerance }
  end
  return data
end

return plan
