-- Fits text into the columns of a terminal.
local layout = {}

-- Ranges of characters that take no terminal column, and of those that take two.
local NARROW = { 0x300, 0x36f, 0x200b, 0x200f, 0x20d0, 0x20ff, 0xfe00, 0xfe0f, 0xfe20, 0xfe2f }
local WIDE = { 0x1100, 0x115f, 0x2e80, 0x303e, 0x3041, 0xa4cf, 0xac00, 0xd7a3, 0xf900, 0xfaff,
  0xfe30, 0xfe6f, 0xff00, 0xff60, 0xffe0, 0xffe6, 0x1f300, 0x1f64f, 0x1f680, 0x1f6ff, 0x1f900,
  0x1f9ff, 0x20000, 0x3fffd }

local function is_among(code, ranges)
  for place = 1, #ranges, 2 do
    if code <= ranges[place + 1] then return code >= ranges[place] end
  end
  return false
end

local function width_of(code)
  if code < 0x300 then return 1 end
  return is_among(code, NARROW) and 0 or is_among(code, WIDE) and 2 or 1
end

--- The terminal columns of a text.
function layout.width(text)
  if not utf8.len(text) then return #text end
  local sum = 0
  for _, code in utf8.codes(text) do sum = sum + width_of(code) end
  return sum
end

-- The part of a text that fits this many columns; and the rest.
function layout.cut(text, columns)
  if not utf8.len(text) then return text:sub(1, columns), text:sub(columns + 1) end
  local sum = 0
  for place, code in utf8.codes(text) do
    sum = sum + width_of(code)
    if sum > columns then return text:sub(1, place - 1), text:sub(place) end
  end
  return text, ""
end

-- The start and the end of a text that is too long for this many columns; without a start, only the
-- end.
function layout.short(text, columns, has_no_begin)
  if layout.width(text) <= columns then return text end
  local begin = has_no_begin and "" or layout.cut(text, columns // 2)
  local room, rest = columns - layout.width(begin) - 1, text
  while layout.width(rest) > math.max(0, room) do
    rest = rest:sub(utf8.len(rest) and utf8.offset(rest, 2) or 2)
  end
  return begin .. "…" .. rest
end

-- A text as lines of at most this many columns, broken between words where possible.
function layout.wrap(text, columns)
  local lines, line = {}, ""
  for word in text:gmatch "%S+" do
    local longer = line == "" and word or line .. " " .. word
    if layout.width(longer) > columns and line ~= "" then
      lines[#lines + 1], longer = line, word
    end
    while layout.width(longer) > columns do
      lines[#lines + 1], longer = layout.cut(longer, columns)
    end
    line = longer
  end
  if line ~= "" then lines[#lines + 1] = line end
  return lines
end

-- Rows of texts as lines with aligned columns, two spaces apart. Columns whose numbers are in
-- `right` are right-aligned.
function layout.columns(rows, indent, right)
  local widths = {}
  for _, row in ipairs(rows) do
    for place, cell in ipairs(row) do
      widths[place] = math.max(widths[place] or 0, layout.width(cell))
    end
  end
  local lines = {}
  for _, row in ipairs(rows) do
    local cells = {}
    for place, cell in ipairs(row) do
      local gap = (" "):rep(widths[place] - layout.width(cell))
      cells[place] = right and right[place] and gap .. cell or cell .. gap
    end
    lines[#lines + 1] = ((indent or "") .. table.concat(cells, "  ")):gsub("%s+$", "")
  end
  return lines
end

-- A list as text: "a, b and c".
function layout.list(names, last)
  if #names < 2 then return names[1] or "" end
  return table.concat(names, ", ", 1, #names - 1) .. " " .. (last or "and") .. " " .. names[#names]
end

return layout
