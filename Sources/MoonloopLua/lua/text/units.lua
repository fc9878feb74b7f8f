-- Writes and reads times, sizes and counts.
local units = {}

local UNITS = {
  { "h", 3600 }, { "min", 60 }, { "s", 1 }, { "ms", 1e-3 }, { "us", 1e-6 }, { "ns", 1e-9 },
}

local date = os.date

--- A formatted number with the point that a locale may have replaced.
function units.pointed(text)
  return (text:gsub("[^%w%-+]+", "."))
end

--- A number without trailing zeros.
function units.trimmed(number, decimals)
  local text = units.pointed(("%." .. decimals .. "f"):format(number))
  if text:find("%.") then text = text:gsub("0+$", ""):gsub("%.$", "") end
  return text
end

local trimmed = units.trimmed

--- A date as in RFC 3339, in UTC, from seconds since 1970: "2026-11-25T19:00:00.250Z".
function units.stamp(seconds)
  local whole = math.floor(seconds)
  local thousandths = math.floor((seconds - whole) * 1000)
  return ("%s.%03dZ"):format(date("!%Y-%m-%dT%H:%M:%S", whole), thousandths)
end

--- An exact time: "5 s", "1 h 30 min", "500 ms".
function units.time(seconds)
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

--- A measured time, with three significant digits.
function units.measured(seconds)
  if seconds <= 0 then return "0" end
  for _, unit in ipairs(UNITS) do
    if unit[2] <= 1 and (seconds >= unit[2] or unit[2] == 1e-9) then
      local number = seconds / unit[2]
      return trimmed(number, number >= 100 and 0 or number >= 10 and 1 or 2) .. " " .. unit[1]
    end
  end
end

--- A count of events; rates are rounded.
function units.count(number)
  if math.type(number) == "integer" or number >= 10 then return ("%.0f"):format(number) end
  return trimmed(number, 1)
end

--- "1 timer", "2 timers".
function units.plural(count, word)
  return count == 1 and "1 " .. word or ("%s %ss"):format(units.count(count), word)
end

local SECONDS = {
  [""] = 1, s = 1, sec = 1, seconds = 1, ms = 1e-3, us = 1e-6, ns = 1e-9, m = 60, min = 60,
  h = 3600,
  d = 86400,
}

--- The seconds in a text such as "500ms" or "2 h"; nil if it is not a time.
function units.seconds(text)
  local number, unit = text:match "^([%d.]+)%s*(%a*)$"
  number = tonumber(number)
  return number and SECONDS[unit] and number * SECONDS[unit]
end

local BYTES = { [""] = 1, K = 1 << 10, M = 1 << 20, G = 1 << 30 }

--- The bytes in a text such as "64M"; nil if it is not a size.
function units.bytes(text)
  local number, unit = text:match "^(%d+)([KMG]?)$"
  local bytes = number and tonumber(number .. ".0") * BYTES[unit]
  return bytes and bytes < 1 << 62 and math.tointeger(bytes) or nil
end

--- The shortest text that reads as the same float, and never as an integer; or rounded. What JSON
--- has no number for is "null".
function units.json(number, decimals)
  if math.type(number) == "integer" then return ("%d"):format(number) end
  if number ~= number or number == math.huge or number == -math.huge then return "null" end
  if decimals then return units.trimmed(number, decimals) end
  local text = ("%.15g"):format(number)
  if tonumber(text) ~= number then text = ("%.17g"):format(number) end
  return text:find "[^%d-]" and units.pointed(text) or text .. ".0"
end

return units
