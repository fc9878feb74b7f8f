-- What a terminal draws on: cells, cursor, margins, as an xterm has them.
local layout = require "moonloop.text.layout"
local sequences = require "moonloop.testing.sequences"

local surface = {}
surface.__index = surface

-- The style of cells that no program has drawn in.
local PLAIN = {}

local function blank(style) return { text = " ", style = style } end

local function blank_row(columns, style)
  local row = {}
  for column = 1, columns do row[column] = blank(style) end
  return row
end

local function blank_grid(columns, rows)
  local grid = {}
  for row = 1, rows do grid[row] = blank_row(columns, PLAIN) end
  return grid
end

--- Makes an empty surface.
-- @param reply called with what the terminal answers to the program
function surface.new(columns, rows, reply)
  local self = setmetatable({ columns = columns, rows = rows, title = "", reply = reply }, surface)
  self.input = sequences.new(self)
  self:reset()
  return self
end

--- As when the terminal was switched on.
function surface:reset()
  self.grid, self.other = blank_grid(self.columns, self.rows), nil
  self.row, self.column, self.style, self.saved = 1, 1, PLAIN, nil
  self.top, self.bottom = 1, self.rows
  self.is_visible, self.wraps, self.inserts, self.is_past_end = true, true, false, false
  self.has_application_keys = false
end

--- Takes what the program has written.
function surface:feed(bytes) self.input:feed(bytes) end

--- Gives it another size. Rows that no longer fit are cut off at the top, as far as the cursor
-- would be below the end.
function surface:resize(columns, rows)
  for _, grid in pairs { self.grid, self.other } do
    local cuts_top = grid == self.grid and self.row > rows
    while #grid > rows do table.remove(grid, cuts_top and 1 or #grid) end
    for row = 1, rows do
      grid[row] = grid[row] or blank_row(columns, PLAIN)
      for column = #grid[row] + 1, columns do grid[row][column] = blank(PLAIN) end
      for column = #grid[row], columns + 1, -1 do grid[row][column] = nil end
    end
  end
  self.columns, self.rows, self.top, self.bottom = columns, rows, 1, rows
  self:move(math.min(self.row, rows), math.min(self.column, columns))
end

--- Moves the cursor, as far as the screen goes.
function surface:move(row, column)
  self.row = math.max(1, math.min(row, self.rows))
  self.column = math.max(1, math.min(column, self.columns))
  self.is_past_end = false
end

--- Moves it up or down, not across a margin.
function surface:climb(count)
  local low, high = 1, self.rows
  if self.row >= self.top and self.row <= self.bottom then low, high = self.top, self.bottom end
  self:move(math.max(low, math.min(self.row + count, high)), self.column)
end

--- Moves the rows between two by a count, up if it is positive.
function surface:scroll(count, top, bottom)
  top, bottom = top or self.top, bottom or self.bottom
  for _ = 1, math.min(math.abs(count), bottom - top + 1) do
    local row = blank_row(self.columns, self.style)
    table.remove(self.grid, count > 0 and top or bottom)
    table.insert(self.grid, count > 0 and bottom or top, row)
  end
end

--- The next row, or the one before; scrolls at the margin.
function surface:feed_line(step)
  local margin = step > 0 and self.bottom or self.top
  if self.row == margin then return self:scroll(step) end
  self:move(self.row + step, self.column)
end

--- Draws a character at the cursor.
function surface:put(text)
  local width = math.min(layout.width(text), self.columns)
  if width == 0 then
    local column = self.is_past_end and self.column or math.max(1, self.column - 1)
    local cell = self.grid[self.row][column]
    cell.text = cell.text .. text
    return
  end
  local has_room = self.column + width - 1 <= self.columns
  if self.wraps and (self.is_past_end or not has_room) then
    self:feed_line(1)
    self:move(self.row, 1)
  end
  if self.inserts then self:shift(width) end
  local row = self.grid[self.row]
  for place = 0, width - 1 do
    row[self.column + place] = { text = place == 0 and text or "", style = self.style }
  end
  local next_column = self.column + width
  self:move(self.row, next_column)
  self.is_past_end = next_column > self.columns
end

--- Makes room at the cursor, or takes characters away.
function surface:shift(count)
  local row = self.grid[self.row]
  for _ = 1, math.min(math.abs(count), self.columns) do
    table.remove(row, count > 0 and self.columns or self.column)
    table.insert(row, count > 0 and self.column or self.columns, blank(self.style))
  end
end

--- Empties cells of a row.
function surface:erase(number, first, last)
  local row = self.grid[number]
  for column = math.max(1, first), math.min(last, self.columns) do
    row[column] = blank(self.style)
  end
end

--- Shows the other screen, which full-screen programs use, or the first again.
function surface:switch(is_other)
  if is_other == (self.other ~= nil) then return end
  if is_other then
    self.other, self.grid = self.grid, blank_grid(self.columns, self.rows)
  else
    self.grid, self.other = self.other, nil
  end
end

function surface:save() self.saved = { self.row, self.column, self.style } end

function surface:restore()
  local saved = self.saved or { 1, 1, PLAIN }
  self:move(saved[1], saved[2])
  self.style = saved[3]
end

return surface
