-- The picture of `moonloop top` fits any terminal, and none of its text controls the terminal.
local figures = require "moonloop.inspection.figures"
local layout = require "moonloop.text.layout"

local rows = {}
local function row(name, at)
  local times = { p50 = 1e-4, p90 = 1e-3, p99 = 0.135, max = 0.319, mean = 1e-4 }
  rows[#rows + 1] = { kind = "timer", name = name, made_at = at, calls = 1234, missed = 3,
    wake_ups = 2, busy = 1 / (#rows + 1), duration = times, late = times,
    made_late = { { by = "timer 'slow' (made at /a/long/path/of/somebody/app.lua:5)", calls = 1,
      took = 0.3, late = 0.1, missed = 1 } },
    held = { count = 2, missed = 30, total = 4, max = 3, mode = 3, nested_run = 1, handler = 0,
      clock = 0, by = "because its mode did not run" } }
end
for place = 1, 30 do row("a-timer-with-a-long-name-" .. place, "/a/long/path/app.lua:" .. place) end
row("日本語の名前", "x.lua:1")
row("\27[31mred\n\127\xc2\x9b\xff", "\27]0;x\7:1")
row("", "")
local made = { loop = "the main loop", clock = "real", mode = "default", depth = 1,
  live = { timers = 3, items = 2, tasks = 1, requests = 0 }, causes = { timer = 100 }, passes = 120,
  wake_ups = 100, idle = 0.3, busy = 2.5, time = 3, handles = rows,
  under_way = { by = "timer 'hog' (made at app.lua:1)", took = 3 } }

for _, width in ipairs { 10, 24, 40, 59, 60, 79, 80, 81, 99, 120, 132, 160, 200 } do
  for _, height in ipairs { 6, 10, 20, 24, 45 } do
    local text = figures.text(made, { width = width, height = height })
    local count = 0
    for line in text:gmatch "([^\n]*)\n" do
      count = count + 1
      assert(layout.width(line) <= width, line)
    end
    -- One line is left for the cursor.
    assert(count < height, ("%d x %d:\n%s"):format(width, height, text))
    assert(not text:find "[\0-\9\11-\31\127]" and utf8.len(text), text)
    if width >= 60 and height >= 20 then
      for _, title in ipairs { "NAME", "BUSY", "MAX", "is running", "came", "was held back" } do
        assert(text:find(title, 1, true), title .. "\n" .. text)
      end
    end
  end
end
-- Without a terminal nothing is cut.
local text = figures.text(made)
for _, title in ipairs { "KIND", "MADE AT", "CALLS/S", "LATE p50", "MISSED", "HELD MAX",
  "HELD MISSED", "long%-name%-30 " } do
  assert(text:find(title), title)
end
assert(text:find("%?%[31mred%?%?"), text)
assert(layout.short("timer-with-a-name-14", 12) == "timer-…me-14")
assert(layout.width "日本" == 4 and layout.width "e\u{301}" == 1)
