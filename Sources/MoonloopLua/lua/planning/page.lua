-- A self-contained HTML page with timelines in SVG: a far view of the whole time, in columns, and a
-- close view of a window, with each event.
local lists = require "moonloop.text.lists"
local units = require "moonloop.text.units"

local page = {}

-- Widths in pixels: labels, plot, total; heights of a row and the gap below it.
local GUTTER, WIDTH, FULL, ROW, GAP = 190, 1000, 1214, 18, 6
local MODE_COLOURS = { "#7a9cc6", "#c99a5b", "#87a878", "#b07aa1", "#d37f7f", "#7fb3b0" }
local SECTION_COLOURS = { timers = "#2f6db5", sources = "#3d8b57", observers = "#9a6fb0",
  signals = "#b05a3c" }
local OTHER_COLOUR = "#707070"

-- In a narrow window the drawings scroll, so that their text keeps its size.
local STYLE = [[
:root { color-scheme: light dark; --text: #222; --back: #fff; --dim: #555; --line: #e4e4e4;
  --lane: #f6f7f8; --asleep: #dbe4ee; --pass: #555 }
@media (prefers-color-scheme: dark) { :root { --text: #ddd; --back: #17191c; --dim: #a5a9ae;
  --line: #33373c; --lane: #202327; --asleep: #2f3d4d; --pass: #b5b9be }
  .item { filter: brightness(1.4) } }
body { font: 14px/1.45 system-ui, sans-serif; margin: 24px; color: var(--text);
  background: var(--back) }
h1 { font-size: 20px; margin: 0 0 4px; overflow-wrap: anywhere }
h2 { font-size: 15px; margin: 22px 0 6px }
p { margin: 0 0 8px; color: var(--dim) }
pre, .wide { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
td, th { padding: 2px 10px; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--line) }
td:first-child, th:first-child, td.w { text-align: left } th { color: var(--dim) }
.key span { display: inline-block; margin-right: 14px }
.key i { display: inline-block; width: 12px; height: 12px; margin-right: 5px;
  vertical-align: -1px }
svg { display: block; width: 100%; min-width: 900px; max-width: 1214px; height: auto }
svg text { font: 12px system-ui, sans-serif; fill: var(--text) }
.axis { stroke: var(--line) } .tick { fill: var(--dim) } .lane { fill: var(--lane) }
.held { fill: var(--dim); opacity: 0.3 } .busy { opacity: 0.5 }
.asleep { fill: var(--asleep) } .pass { fill: var(--pass) } svg text.in { fill: #10161d }
i.asleep { background: var(--asleep) } i.pass { background: var(--pass) }
i.held { background: var(--dim); opacity: 0.3 }
]]

local ENTITIES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }

local function escape(text) return (tostring(text):gsub('[&<>"]', ENTITIES)) end

local function shorter(text, most)
  local count = utf8.len(text)
  if not count or count <= most then return text end
  return text:sub(1, utf8.offset(text, most) - 1) .. "…"
end

-- ── a drawing ───────────────────────────────────────────────────────────────────────────────────

-- A picture of a span of time: { parts, height, from, to }.
local Drawing = {}
Drawing.__index = Drawing

local function new_drawing(from, to)
  return setmetatable({ parts = {}, height = 0, from = from, to = to }, Drawing)
end

function Drawing:add(text, ...) self.parts[#self.parts + 1] = text:format(...) end

-- The x position of a moment, kept inside the plot.
function Drawing:x(time)
  local share = (time - self.from) / (self.to - self.from)
  return GUTTER + math.max(0, math.min(1, share)) * WIDTH
end

function Drawing:rect(class, from, to, top, height, title, least, colour)
  local left, right = self:x(from), self:x(to)
  self:add('<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"%s>'
    .. "<title>%s</title></rect>", class, left, top, math.max(right - left, least or 0.5), height,
    colour and (' fill="%s"'):format(colour) or "", escape(title))
end

-- Begins a row with a label; returns its top.
function Drawing:lane(label, title)
  local top = self.height
  self.height = top + ROW + GAP
  self:add('<rect class="lane" x="%d" y="%d" width="%d" height="%d"/>', GUTTER, top, WIDTH, ROW)
  self:add('<text x="%d" y="%d" text-anchor="end">%s<title>%s</title></text>', GUTTER - 8,
    top + 13, escape(shorter(label, 26)), escape(title or label))
  return top
end

local STEPS = { 1, 2, 5 }
local LONG_STEPS = { 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 43200, 86400 }

-- The distance of the axis lines: at most twelve of them.
local function step_of(span)
  local power = 10.0 ^ math.floor(math.log(span / 12, 10))
  for _ = 1, 3 do
    for _, step in ipairs(STEPS) do
      local distance = step * power
      if distance <= 20 and span / distance <= 12 then return distance end
    end
    power = power * 10
  end
  for _, step in ipairs(LONG_STEPS) do
    if span / step <= 12 then return step end
  end
  return span / 10
end

function Drawing:axis()
  local step = step_of(self.to - self.from)
  self.height = self.height + 14
  local index = math.ceil(self.from / step - 1e-9)
  local lines = {}
  while index * step <= self.to * (1 + 1e-12) do
    local x = self:x(index * step)
    lines[#lines + 1] = ('<line class="axis" x1="%.1f" y1="0" x2="%.1f" y2="%d"/>'):format(
      x, x, self.height - 12)
    self:add('<text class="tick" x="%.1f" y="%d" text-anchor="middle">%s</text>', x, self.height,
      units.time(math.floor(index * step * 1e6 + 0.5) / 1e6))
    index = index + 1
  end
  self.height = self.height + 6
  table.insert(self.parts, 1, table.concat(lines, "\n"))
end

function Drawing:text(label)
  return ('<div class="wide"><svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="%s"'
    .. ' width="%d" height="%d" viewBox="0 0 %d %d">\n%s\n</svg></div>'):format(escape(label), FULL,
    self.height, FULL, self.height, table.concat(self.parts, "\n"))
end

-- ── modes ───────────────────────────────────────────────────────────────────────────────────────

-- The plan's modes in order, then modes that only handlers run, in the order of their runs.
local function mode_colour(result, name)
  local places = result.mode_places
  if not places then
    local count = #result.plan.modes
    places = {}
    for place, mode in ipairs(result.plan.modes) do places[mode.name] = place end
    for _, run in ipairs(result.runs) do
      if not places[run.mode] then
        count = count + 1
        places[run.mode] = count
      end
    end
    result.mode_places = places
  end
  return MODE_COLOURS[((places[name] or 0) - 1) % #MODE_COLOURS + 1]
end

-- The runs to draw. In a close view, a run that stands for several is drawn as several.
local function bands(result, is_close)
  local list = {}
  for _, run in ipairs(result.runs) do
    if not is_close or run.count == 1 or run.depth == 1 then list[#list + 1] = run end
  end
  if is_close then
    for _, one in ipairs(result.details) do
      if one.what == "run" then
        list[#list + 1] = { mode = one.mode, depth = one.depth + 1, from = one.from, to = one.to,
          count = 1 }
      end
    end
  end
  return list
end

local function draw_modes(drawing, result, is_close)
  local list, deepest = bands(result, is_close), 1
  for _, run in ipairs(list) do deepest = math.max(deepest, run.depth) end
  local tops = {}
  for depth = 1, deepest do
    tops[depth] = drawing:lane(depth == 1 and "modes" or ("nested, depth %d"):format(depth))
  end
  for _, run in ipairs(list) do
    if run.to >= drawing.from and run.from <= drawing.to then
      local title = ("%s, depth %d: %s to %s%s"):format(run.mode, run.depth, units.time(run.from),
        units.time(run.to), run.count > 1 and (", %d runs"):format(run.count) or "")
      drawing:rect("mode", run.from, run.to, tops[run.depth], ROW, title, 1,
        mode_colour(result, run.mode))
      if drawing:x(run.to) - drawing:x(run.from) > 7 * #run.mode + 8 then
        drawing:add('<text class="in" x="%.1f" y="%d">%s</text>', drawing:x(run.from) + 5,
          tops[run.depth] + 13, escape(run.mode))
      end
    end
  end
end

local function colour_of(row) return SECTION_COLOURS[row.section] or OTHER_COLOUR end

-- The key to the colours.
local function key_text(result)
  local parts, known = {}, {}
  local function add(name, style)
    parts[#parts + 1] = ("<span><i %s></i>%s</span>"):format(style, escape(name))
  end
  local runs = table.move(result.runs, 1, #result.runs, 1, {})
  table.sort(runs, lists.by("depth", "from", "mode"))
  for _, run in ipairs(runs) do
    if not known["mode " .. run.mode] then
      known["mode " .. run.mode] = true
      add("mode " .. run.mode, ('style="background:%s"'):format(mode_colour(result, run.mode)))
    end
  end
  add("asleep", 'class="asleep"')
  add("passes", 'class="pass"')
  add("held back", 'class="held"')
  for _, row in ipairs(result.rows) do
    if not known[row.section] then
      known[row.section] = true
      -- The class of the drawing, so that the dark changes both alike.
      add(row.section, ('class="item" style="background:%s"'):format(colour_of(row)))
    end
  end
  return ('<p class="key">%s</p>'):format(table.concat(parts, "\n"))
end

-- ── the far view ────────────────────────────────────────────────────────────────────────────────

-- Draws a row of counts; neighbours with equal counts share a rectangle.
local function draw_columns(drawing, top, width, counts, describe, colour, class)
  local most = 0
  for _, count in ipairs(counts) do most = math.max(most, count) end
  if most == 0 then return end
  local place = 1
  while place <= #counts do
    local last = place
    while counts[last + 1] == counts[place] do last = last + 1 end
    if counts[place] > 0 then
      local height = math.max(2, counts[place] / most * ROW)
      drawing:rect(class or "item", (place - 1) * width, last * width, top + ROW - height, height,
        describe(counts[place], width, (place - 1) * width, last * width), 1, colour)
    end
    place = last + 1
  end
end

local function counted(what)
  return function(count, width, from, to)
    return ("%s: %s in %s, from %s to %s"):format(what, units.count(count), units.measured(width),
      units.measured(from), units.measured(to))
  end
end

local function held_back(what)
  return function(time, width, from, to)
    return ("%s: held back for %s, from %s to %s"):format(what,
      units.measured(time * (to - from) / width), units.measured(from), units.measured(to))
  end
end

local function in_calls(what)
  return function(time, width, from, to)
    return ("%s: in long calls for %.0f %% of the time from %s to %s"):format(what,
      time / width * 100, units.measured(from), units.measured(to))
  end
end

local function far_view(result)
  local whole = result.time > 0 and math.min(result.time, result.span) or result.span
  local drawing, width = new_drawing(0, whole), result.span / math.max(1, #result.pass_columns)
  draw_modes(drawing, result, false)
  draw_columns(drawing, drawing:lane "asleep", width, result.sleep_columns,
    function(slept, width, from, to)
      return ("asleep for %.1f %%, from %s to %s"):format(slept / width * 100,
        units.measured(from), units.measured(to))
    end, nil, "asleep")
  draw_columns(drawing, drawing:lane "passes", width, result.pass_columns, counted "passes", nil,
    "pass")
  for _, row in ipairs(result.rows) do
    local top = drawing:lane(row.label or row.name, row.section .. ": " .. row.name)
    draw_columns(drawing, top, width, row.held_columns, held_back(row.name), nil, "held")
    draw_columns(drawing, top, width, row.busy_columns, in_calls(row.name), colour_of(row),
      "item busy")
    draw_columns(drawing, top, width, row.columns, counted(row.name), colour_of(row))
  end
  drawing:axis()
  return drawing:text("the whole time of " .. result.name)
end

-- ── the close view ──────────────────────────────────────────────────────────────────────────────

-- The window that was asked for, as far as its events are kept; nil if it has none.
local function window(result)
  local from, to = result.from or 0, 0
  for _, one in ipairs(result.details) do to = math.max(to, one.to) end
  if result.window then to = from + result.window end
  if result.details_end then to = math.min(to, result.details_end) end
  if #result.details == 0 or to <= from then return nil end
  return from, to
end

local function callout_title(row, one)
  local parts = { ("%s at %s"):format(row.name, units.time(one.from)) }
  if one.late > 0 then parts[#parts + 1] = units.measured(one.late) .. " late" end
  if one.to > one.from then
    parts[#parts + 1] = ("for %s, including nested runs"):format(units.measured(one.to - one.from))
  end
  return table.concat(parts, ", ")
end

local function draw_events(drawing, result, tops)
  for _, one in ipairs(result.details) do
    if one.what == "sleep" then
      drawing:rect("asleep", one.from, one.to, tops.asleep, ROW,
        ("asleep for %s, from %s to %s"):format(units.measured(one.to - one.from),
          units.time(one.from), units.time(one.to)))
    elseif one.what == "pass" then
      drawing:rect("pass", one.from, one.from, tops.passes + 3, ROW - 6,
        ("a pass at %s"):format(units.time(one.from)), 1.2)
    elseif one.what == "held" then
      local row = result.items[one.item]
      drawing:rect("held", one.from, one.to, tops[row], ROW, ("%s: held back for %s, from %s to %s")
        :format(row.name, units.measured(one.to - one.from), units.time(one.from),
          units.time(one.to)))
    elseif one.what == "callout" then
      local row = result.items[one.item]
      drawing:rect("item", one.from, one.to, tops[row], ROW, callout_title(row, one), 2,
        colour_of(row))
    end
  end
end

local function close_view(result)
  local from, to = window(result)
  if not from then return "<p>Nothing happened in the window.</p>" end
  local drawing = new_drawing(from, to)
  draw_modes(drawing, result, true)
  local tops = { asleep = drawing:lane "asleep", passes = drawing:lane "passes" }
  for _, row in ipairs(result.rows) do
    tops[row] = drawing:lane(row.label or row.name, row.section .. ": " .. row.name)
  end
  draw_events(drawing, result, tops)
  drawing:axis()
  local heading = ("<h2>From %s to %s, each event</h2>\n"):format(units.time(from),
    units.measured(to) == "0" and "0 s" or units.time(to))
  return heading .. drawing:text("a window of " .. result.name)
end

-- ── the page ────────────────────────────────────────────────────────────────────────────────────

local function table_text(rows)
  local lines = { '<div class="wide"><table>' }
  for place, row in ipairs(rows) do
    local tag = place == 1 and "th" or "td"
    local cells = {}
    for index, cell in ipairs(row) do
      cells[index] = ("<%s>%s</%s>"):format(tag, escape(cell), tag)
    end
    lines[#lines + 1] = "<tr>" .. table.concat(cells) .. "</tr>"
  end
  lines[#lines + 1] = "</table></div>"
  return table.concat(lines, "\n")
end

local function section_of(doc, result)
  local report = require "moonloop.planning.report"
  local parts = { ("<h1>%s</h1>"):format(escape(doc.name)),
    ("<p>%s</p>"):format(escape(report.summary(result))), key_text(result),
    ("<h2>All of %s</h2>"):format(units.time(result.time)), far_view(result),
    close_view(result), "<h2>Items</h2>", table_text(report.item_rows(result)) }
  if #result.failures > 0 then
    parts[#parts + 1] = ("<h2>Failures</h2>\n<pre>%s</pre>"):format(
      escape(table.concat(result.failures, "\n\n")))
  end
  return table.concat(parts, "\n")
end

local function whole(title, body)
  return ('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    .. '<meta name="viewport" content="width=device-width">\n<title>%s</title>\n'
    .. "<style>\n%s</style>\n</head>\n<body>\n%s\n</body>\n</html>\n"):format(escape(title), STYLE,
    body)
end

-- The page of one run or of two.
function page.of_runs(docs, results)
  local parts = {}
  for place, result in ipairs(results) do parts[place] = section_of(docs[place], result) end
  return whole(docs[1].name, table.concat(parts, "\n<hr>\n"))
end

-- The page of a plan: its table, and what its timers do without handlers.
function page.of_plan(doc, made)
  local simulation = require "moonloop.planning.simulation"
  local plan = require "moonloop.planning.plan"
  local result, message = simulation.run(doc, simulation.settings {
    ["no-handlers"] = true, html = true, ["for"] = 600 })
  if not result then return nil, message end
  return whole(doc.name, ("<h1>%s</h1>\n<pre>%s</pre>\n%s\n%s"):format(escape(doc.name),
    escape(plan.text(doc, made)), "<h2>Ten minutes of its timers</h2>\n" .. key_text(result)
      .. far_view(result), close_view(result)))
end

return page
