-- Time zones: a function from seconds since 1970 to how many seconds a zone's clocks are ahead of
-- UTC then. Reads the system's files (RFC 8536).
local civil = require "moonloop.cron.civil"

local zone = {}

-- ── dates by rule, for the years after the list of a file ───────────────────────────────────────

-- "5", "-5:30", "+02:00:00" as seconds; nil if there is none at this place.
local function clock(text, at)
  local sign, hours, past = text:match("^([+-]?)(%d+)()", at)
  if not hours then return nil, at end
  local seconds, scale = hours * 3600, 60
  while scale > 0 and text:find("^:%d%d", past) do
    seconds, past = seconds + text:sub(past + 1, past + 2) * scale, past + 3
    scale = scale // 60
  end
  return math.tointeger(sign == "-" and -seconds or seconds), past
end

-- "M3.5.0/2", "J60" or "59" as a function from a year to the seconds of that moment as local time.
local function moment(text)
  local rule, time = text:match "^([^/]*)/?(.*)$"
  local at = clock(time, 1) or 7200
  local month, week, weekday = rule:match "^M(%d+)%.(%d)%.(%d)$"
  if month then
    month, week, weekday = tonumber(month), tonumber(week), tonumber(weekday)
    return function(year)
      local first = civil.days(year, month, 1)
      local day = first + (weekday - civil.weekday(first)) % 7 + (week - 1) * 7
      local _, month_of = civil.date(day)
      if month_of ~= month then day = day - 7 end  -- the fifth of a month that has four
      return day * 86400 + at
    end
  end
  local number = tonumber(rule:match "%d+")
  if rule:sub(1, 1) ~= "J" then
    return function(year) return (civil.days(year, 1, 1) + number) * 86400 + at end
  end
  return function(year)  -- 29 February is not counted
    local day = civil.days(2001, 1, 1) + number - 1
    local _, month_of, day_of = civil.date(day)
    return civil.days(year, month_of, day_of) * 86400 + at
  end
end

-- The rule at the end of a file, such as "CET-1CEST,M3.5.0,M10.5.0/3"; nil if there is none.
local function by_rule(text)
  local function name(at) return text:match("^%a+()", at) or text:match("^<[^>]*>()", at) end
  local past = name(1)
  if not past then return nil end
  local standard, summer, from, to
  standard, past = clock(text, past)
  if not standard then return nil end
  local past_name = name(past)
  if not past_name then return function() return -standard end end
  summer, past = clock(text, past_name)
  summer = summer or standard - 3600
  from, to = text:match("^,([^,]+),([^,]+)$", past)
  if not from then return nil end
  from, to = moment(from), moment(to)
  return function(time)
    local year = civil.date((time - standard) // 86400)
    local first, last = from(year) + standard, to(year) + summer
    local is_summer
    if first < last then is_summer = time >= first and time < last
    else is_summer = time >= first or time < last end
    return is_summer and -summer or -standard
  end
end

-- ── files ───────────────────────────────────────────────────────────────────────────────────────

-- Where a block of a file begins and ends, and how many dates and types it has; nil if it is none.
-- The size of a date in bytes.
local function block(bytes, at, width)
  local signature, version, _, isut, isstd, leap, times, types, chars, past =
    string.unpack(">c4c1c15I4I4I4I4I4I4", bytes, at)
  if signature ~= "TZif" or version < "2" then return nil end
  return past, past + times * (width + 1) + types * 6 + chars + leap * (width + 4) + isstd + isut,
    times, types
end

local function search(dates, time)
  local low, high = 0, #dates  -- the last one that is not later
  while low < high do
    local middle = (low + high + 1) // 2
    if dates[middle] <= time then low = middle else high = middle - 1 end
  end
  return low
end

-- A zone from the bytes of its file; nil if they are none.
local function read(bytes)
  local past, ends = block(bytes, 1, 4)  -- the dates that 32 bits can hold
  if not past then return nil end
  local times, types
  past, ends, times, types = block(bytes, ends, 8)
  local dates, kinds, offsets = {}, {}, {}
  for place = 1, times do
    dates[place] = string.unpack(">i8", bytes, past + (place - 1) * 8)
    kinds[place] = bytes:byte(past + times * 8 + place - 1)
  end
  for place = 0, types - 1 do
    offsets[place] = string.unpack(">i4", bytes, past + times * 9 + place * 6)
  end
  local rule = by_rule(bytes:match("^\n([^\n]*)\n", ends) or "")
  return function(time)
    local place = search(dates, time)
    if place == #dates and rule then return rule(time) end
    return offsets[kinds[place] or 0] or 0
  end
end

-- ── by name ─────────────────────────────────────────────────────────────────────────────────────

local function machines(time)
  local date = os.date("*t", time)
  return civil.days(date.year, date.month, date.day) * 86400 + date.hour * 3600 + date.min * 60
    + date.sec - time
end

local function utc() return 0 end

local known = {}

--- The zone of a name such as "Europe/Berlin" or "UTC"; without one, that of the machine. Returns
-- the function; or nil and why there is none.
function zone.named(name)
  if name == nil then return machines end
  if name == "UTC" then return utc end
  if known[name] then return known[name] end
  if type(name) ~= "string" or not ("/" .. name):find "^/%a" or ("/" .. name):find "/[^%w_+-]"
    or name:find "[^%w_+/-]" then
    return nil, ('a time zone is a name such as "Europe/Berlin" or "UTC", got %s')
      :format(type(name) == "string" and ("%q"):format(name) or "a " .. type(name))
  end
  if not io then
    return nil, "time zones by name are not available to this script; there are UTC and, without "
      .. "a name, the machine's"
  end
  local path = (os.getenv "TZDIR" or "/usr/share/zoneinfo") .. "/" .. name
  local file, message = io.open(path, "rb")
  local bytes = file and file:read "a"
  if file then file:close() end
  if not bytes then
    return nil, ("no time zone '%s' (%s); the package tzdata has them"):format(name,
      message or "a folder")
  end
  local ok, made = pcall(read, bytes)
  if not ok or not made then return nil, ("%s: not a time zone file"):format(path) end
  known[name] = made
  return made
end

return zone
