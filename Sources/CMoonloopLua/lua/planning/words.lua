-- How the planning commands write times, numbers and tables.
local words = {}

local UNITS = {
  { "h", 3600 }, { "min", 60 }, { "s", 1 }, { "ms", 1e-3 }, { "us", 1e-6 }, { "ns", 1e-9 },
}

local function trimmed(number, decimals)
  local text = ("%." .. decimals .. "f"):format(number)
  if text:find("%.") then text = text:gsub("0+$", ""):gsub("%.$", "") end
  return text
end

-- An exact time: "5 s", "1 h 30 min", "500 ms".
function words.time(seconds)
  if seconds >= 1e13 then return ("%.3g h"):format(seconds / 3600) end
  if seconds >= 59.9995 then
    local parts, rest = {}, math.floor(seconds * 1000 + 0.5) / 1000
    for place = 1, 3 do
      local name, size = UNITS[place][1], UNITS[place][2]
      local number = size > 1 and rest // size or rest
      if number > 0.0005 then parts[#parts + 1] = trimmed(number, 3) .. " " .. name end
      rest = rest - number * size
    end
    return table.concat(parts, " ")
  end
  for place = 3, #UNITS do
    if seconds >= UNITS[place][2] * (1 - 1e-9) then
      return trimmed(seconds / UNITS[place][2], 3) .. " " .. UNITS[place][1]
    end
  end
  return seconds == 0 and "0 s" or trimmed(seconds * 1e9, 3) .. " ns"
end

-- A time that was measured: three digits that count.
function words.measured(seconds)
  if seconds <= 0 then return "0" end
  for _, unit in ipairs(UNITS) do
    if unit[2] <= 1 and (seconds >= unit[2] or unit[2] == 1e-9) then
      local number = seconds / unit[2]
      return trimmed(number, number >= 100 and 0 or number >= 10 and 1 or 2) .. " " .. unit[1]
    end
  end
end

-- A count of events; a rate is rounded.
function words.count(number)
  if math.type(number) == "integer" or number >= 10 then return ("%.0f"):format(number) end
  return trimmed(number, 1)
end

function words.plural(count, word)
  return count == 1 and "1 " .. word or ("%s %ss"):format(words.count(count), word)
end

-- How many columns of a terminal a text takes.
local function width(text) return utf8.len(text) or #text end

-- Rows of texts as lines with columns of equal width, two spaces between them. A column whose
-- number is in `right` stands at its right edge.
function words.columns(rows, indent, right)
  local widths = {}
  for _, row in ipairs(rows) do
    for place, cell in ipairs(row) do widths[place] = math.max(widths[place] or 0, width(cell)) end
  end
  local lines = {}
  for _, row in ipairs(rows) do
    local cells = {}
    for place, cell in ipairs(row) do
      local gap = (" "):rep(widths[place] - width(cell))
      cells[place] = right and right[place] and gap .. cell or cell .. gap
    end
    lines[#lines + 1] = ((indent or "") .. table.concat(cells, "  ")):gsub("%s+$", "")
  end
  return lines
end

-- A list as one says it: "a, b and c".
function words.list(names, last)
  if #names < 2 then return names[1] or "" end
  return table.concat(names, ", ", 1, #names - 1) .. " " .. (last or "and") .. " " .. names[#names]
end

return words
