-- The screen of a program that a test started on a pseudo-terminal.
local failure = require "moonloop.testing.failure"
local layout = require "moonloop.text.layout"
local lists = require "moonloop.text.lists"
local ml = require "moonloop"
local quoting = require "moonloop.text.quoting"
local spelling = require "moonloop.text.spelling"
local surface = require "moonloop.testing.surface"
local values = require "moonloop.text.values"

local screen = { __name = "moonloop.testing.screen" }
local methods = {}

-- What is drawn on, and the output of the program, by screen.
local surfaces = setmetatable({}, { __mode = "k" })
local outputs = setmetatable({}, { __mode = "k" })
local FIELDS = { columns = true, rows = true, title = true }

function screen.__index(self, key)
  if methods[key] then return methods[key] end
  if FIELDS[key] then return surfaces[self][key] end
  error(("screen: no field '%s'%s"):format(tostring(key),
    spelling.hint(tostring(key), values.keys(methods, FIELDS), "there are")), 2)
end

--- Makes an empty screen.
-- @param reply called with what the terminal answers to the program
function screen.new(columns, rows, reply)
  local self = setmetatable({}, screen)
  surfaces[self] = surface.new(columns, rows, reply)
  return self
end

--- Draws what the program has written.
function screen.feed(self, bytes) surfaces[self]:feed(bytes) end

function screen.resize(self, columns, rows) surfaces[self]:resize(columns, rows) end

--- Whether the program wants the other sequences of arrow keys.
function screen.has_application_keys(self) return surfaces[self].has_application_keys end

--- Says where the rest of the output comes from.
function screen.follow(self, from) outputs[self] = from end

local function text_of(row)
  local texts = {}
  for column, cell in ipairs(row) do texts[column] = cell.text end
  return (table.concat(texts):gsub(" +$", ""))
end

--- The text of a row, without blanks at its end.
function methods:line(number)
  local shown = surfaces[self]
  if math.type(number) ~= "integer" or not shown.grid[number] then
    error(("screen:line: the row must be from 1 to %d, got %s"):format(
      shown.rows, tostring(number)), 2)
  end
  return text_of(shown.grid[number])
end

--- All rows as one text, without empty ones at the end.
function methods:text()
  local lines = {}
  for number, row in ipairs(surfaces[self].grid) do lines[number] = text_of(row) end
  while lines[#lines] == "" do lines[#lines] = nil end
  return table.concat(lines, "\n")
end

--- Where the cursor is.
function methods:cursor()
  local shown = surfaces[self]
  return { row = shown.row, column = shown.column, visible = shown.is_visible }
end

--- The character at a place, and how it is drawn.
function methods:cell(row, column)
  local shown = surfaces[self]
  local cell = shown.grid[row] and shown.grid[row][column]
  if not cell then
    error(("screen:cell: there are %d rows of %d columns, got row %s, column %s"):format(
      shown.rows, shown.columns, tostring(row), tostring(column)), 2)
  end
  local result = lists.copy(cell.style)
  result.text = cell.text
  return result
end

--- The rows in a frame, for a message; the frame is open below the last row that is used.
function screen.picture(self)
  local shown = surfaces[self]
  local lines, last, edge = {}, shown.row, "    +" .. ("-"):rep(shown.columns) .. "+"
  for number, row in ipairs(shown.grid) do
    local line = text_of(row)
    lines[number] = "    |" .. line .. (" "):rep(shown.columns - layout.width(line)) .. "|"
    if line ~= "" then last = math.max(last, number) end
  end
  return edge .. "\n" .. table.concat(lines, "\n", 1, last)
    .. (last == #lines and "\n" .. edge or "")
end

-- The text of the screen with the blanks in front of the cursor: those of a prompt.
local function text_to_cursor(shown)
  local lines, last = {}, shown.row
  for number, row in ipairs(shown.grid) do
    lines[number] = text_of(row)
    if number == shown.row then
      lines[number] = lines[number] .. (" "):rep(shown.column - 1 - layout.width(lines[number]))
    end
    if lines[number] ~= "" then last = math.max(last, number) end
  end
  return table.concat(lines, "\n", 1, last)
end

--- Waits until the text of the screen matches a pattern.
-- @param within seconds, by default 5, on the clock of the test's loop
-- @param options `{ plain = true }` takes the pattern literally
-- @return the captures of the pattern, or the match
function methods:expect(pattern, within, options)
  if type(within) == "table" and options == nil then within, options = nil, within end
  local is_plain = options and options.plain or false
  within = failure.check_wait("screen:expect", pattern, within, is_plain)
  local text
  local function look()
    text = self:text()
    local found = table.pack(text:find(pattern, 1, is_plain))
    if found[1] then return found end
    text = text_to_cursor(surfaces[self])
    return table.pack(text:find(pattern, 1, is_plain))
  end
  local found = ml.timeout(within, function()
    local found = look()
    while not found[1] and not outputs[self].ended do
      outputs[self].await_more(outputs[self])
      found = look()
    end
    return found
  end)
  if found and found.n > 2 then return table.unpack(found, 3, found.n) end
  if found and found[1] then return text:sub(found[1], found[2]) end
  local reason = found and ": the program ended" or (" within %g s"):format(within)
  failure.fail(("the screen did not match '%s'%s%s. It shows:\n%s"):format(
    quoting.line(pattern), reason,
    failure.advice(pattern, text_to_cursor(surfaces[self]), is_plain), screen.picture(self)), 2)
end

--- The row and the column at which a text begins; nil if it is not there.
function methods:find(text)
  for number, row in ipairs(surfaces[self].grid) do
    local line = text_of(row)
    local place = line:find(text, 1, true)
    if place then return number, layout.width(line:sub(1, place - 1)) + 1 end
  end
end

screen.methods = methods
return screen
