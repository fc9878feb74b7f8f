-- A dashboard in the terminal
-- Draws twice a second, follows the size of the window, and leaves the terminal as it was. Keys
-- arrive at once: q leaves, space pauses.
--
--   moonloop run dashboard.lua
local ml = require "moonloop"
local loop = ml.current()

local term <close> = ml.tty.open { raw = true }
if not term then return print "a dashboard needs a terminal" end

local paused, history = false, {}

local function load()
  local file <close> = assert(io.open "/proc/loadavg")
  return file:read "n"
end

local function draw()
  local width, height = math.max(term.columns, 20), math.max(term.rows, 6)
  local most, lines = 1, {}
  for _, value in ipairs(history) do most = math.max(most, value) end
  for row = height - 4, 1, -1 do
    local line = {}
    for place = math.max(1, #history - width + 1), #history do
      line[#line + 1] = history[place] / most * (height - 4) >= row and "█" or " "
    end
    lines[#lines + 1] = table.concat(line)
  end
  term:write("\27[H\27[J", ("load %.2f%s\r\n\r\n"):format(history[#history] or 0,
    paused and "  (paused)" or ""), table.concat(lines, "\r\n"), "\r\n\r\nq: leave  space: pause")
end

local timer = loop:timer { every = 0.5, first = 0, name = "draw", function()
  if not paused then history[#history + 1] = load() end
  if #history > 500 then table.remove(history, 1) end
  draw()
end }
term:on_resize(draw)
term:write "\27[?1049h\27[?25l"            -- the other screen, no cursor

for key in function() return (term:read(1)) end do
  if key == "q" or key == "\3" then break end
  if key == " " then paused = not paused draw() end
end
timer:invalidate()
term:write "\27[?25h\27[?1049l"
