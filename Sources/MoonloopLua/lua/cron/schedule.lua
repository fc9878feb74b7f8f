-- Schedules in cron's words: "0 3 * * mon-fri" as the moments that they mean in a time zone.
local civil = require "moonloop.cron.civil"
local host = require "moonloop.text.host"
local spelling = require "moonloop.text.spelling"

local MONTHS = { "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov",
  "dec" }
local NAMES_OF_MONTHS = { "January", "February", "March", "April", "May", "June", "July", "August",
  "September", "October", "November", "December" }
local DAYS = { "sun", "mon", "tue", "wed", "thu", "fri", "sat" }
local FIELDS = {
  { "minute", 0, 59 }, { "hour", 0, 23 }, { "day of the month", 1, 31 },
  { "month", 1, 12, words = MONTHS, first = 1 },
  { "day of the week", 0, 7, words = DAYS, first = 0 },
}
local NAMES = {
  ["@yearly"] = "0 0 1 1 *", ["@annually"] = "0 0 1 1 *", ["@monthly"] = "0 0 1 * *",
  ["@weekly"] = "0 0 * * 0", ["@daily"] = "0 0 * * *", ["@midnight"] = "0 0 * * *",
  ["@hourly"] = "0 * * * *",
}
local NAME_LIST = { "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight",
  "@hourly" }

-- ── reading ─────────────────────────────────────────────────────────────────────────────────────

-- Raised as a table, so that other errors stay what they are.
local function fail(what, ...) error({ what = what:format(...) }, 0) end

local function number(field, text)
  if text:find "^%d+$" then
    local value = math.tointeger(tonumber(text))
    if value and value >= field[2] and value <= field[3] then return value end
  elseif field.words and text:find "^%a+$" then
    for place, word in ipairs(field.words) do
      if text:lower() == word then return place - 1 + field.first end
    end
    local hint = spelling.hint(text:lower(), field.words, "there are")
    fail("the %s has no '%s'%s", field[1], text, hint)
  end
  fail("the %s must be from %d to %d, got '%s'", field[1], field[2], field[3], text)
end

-- The first, last and step of "*/5", "1-5", "1-5/2" or "3".
local function range(field, text)
  local body, step = text:match "^([^/]*)/?(.*)$"
  if text:find "/" then
    if not step:find "^%d+$" or tonumber(step) < 1 then
      fail("the %s has '%s', whose step must be a whole number > 0", field[1], text)
    end
  else
    step = "1"
  end
  if body == "*" then return field[2], field[3], tonumber(step) end
  local low, high = body:match "^(%w+)-(%w+)$"
  local first = number(field, low or body)
  local last = high and number(field, high) or first
  if field.words == DAYS and last == 0 and first > 0 then last = 7 end  -- "fri-sun"
  if last < first then
    fail("the %s has '%s', which ends before it begins; write two ranges", field[1], text)
  end
  if not high and text:find "/" then
    fail("the %s has '%s', a step without a range; write '%s-%d/%s'", field[1], text, body,
      field[3], step)
  end
  return first, last, tonumber(step)
end

local function read_field(field, text)
  local set = {}
  if text:find "^," or text:find ",$" or text:find ",," then
    fail("the %s has a list with nothing between commas: '%s'", field[1], text)
  end
  for one in text:gmatch "[^,]+" do
    local first, last, step = range(field, one)
    for value = first, last, step do set[value] = true end
  end
  return set
end

local Schedule = {}
Schedule.__index = Schedule

-- Why a schedule means no day: its months are all too short.
local function why_never(schedule)
  local month, day = next(schedule.months), math.maxinteger
  for one in pairs(schedule.days) do day = math.min(day, one) end
  if next(schedule.months, month) then return ("none of its months has a day %d"):format(day) end
  return ("%s has no day %d"):format(NAMES_OF_MONTHS[month], day)
end

local function read(text)
  local line = text
  if text:find "^@" then
    line = NAMES[text]
    if not line then
      error({ whole = ("no schedule '%s'%s"):format(text, spelling.hint(text, NAME_LIST)) }, 0)
    end
  end
  local texts = {}
  for one in line:gmatch "%S+" do texts[#texts + 1] = one end
  if #texts ~= 5 then
    fail("expected five fields (minute, hour, day of the month, month, day of the week), got %d",
      #texts)
  end
  local sets = {}
  for place, field in ipairs(FIELDS) do sets[place] = read_field(field, texts[place]) end
  if sets[5][7] then sets[5][0] = true end
  local schedule = setmetatable({ text = text, minutes = sets[1], hours = sets[2], days = sets[3],
    months = sets[4], weekdays = sets[5],
    -- As in cron: when both name days, either will do.
    takes_either = texts[3]:sub(1, 1) ~= "*" and texts[5]:sub(1, 1) ~= "*",
    is_every = texts[1]:sub(1, 1) == "*" or texts[2]:sub(1, 1) == "*" }, Schedule)
  if not schedule:following(0) then
    error({ whole = ('"%s" never comes: %s'):format(text, why_never(schedule)) }, 0)
  end
  return schedule
end

-- ── dates ───────────────────────────────────────────────────────────────────────────────────────

-- A 29 February falls on each day of the week within 28 years, or 40 if there is none in 2100.
local DAY_LIMIT = 40 * 366

function Schedule:has_day(day)
  local _, month, number_of_day = civil.date(day)
  if not self.months[month] then return false end
  local in_month, in_week = self.days[number_of_day], self.weekdays[civil.weekday(day)]
  if self.takes_either then return in_month or in_week end
  return in_month and in_week
end

-- The first date after another, both as clocks show them; nil: there is none.
function Schedule:following(date)
  local begin = date // 60 + 1
  local first_hour, first_minute = begin % 1440 // 60, begin % 60
  for day = begin // 1440, begin // 1440 + DAY_LIMIT do
    if self:has_day(day) then
      for hour = first_hour, 23 do
        for minute = first_minute, self.hours[hour] and 59 or -1 do
          if self.minutes[minute] then return day * 86400 + hour * 3600 + minute * 60 end
        end
        first_minute = 0
      end
    end
    first_hour, first_minute = 0, 0
  end
end

-- The days of four years: one of them has a day more.
local DAYS = 4 * 365 + 1

local function count(set, last)
  local found = 0
  for one = 0, last do found = found + (set[one] and 1 or 0) end
  return found
end

--- How often it comes in an hour, on the average of four years.
function Schedule:per_hour()
  local days = 0
  for day = 0, DAYS - 1 do days = days + (self:has_day(day) and 1 or 0) end
  return count(self.minutes, 59) * count(self.hours, 23) * days / DAYS / 24
end

-- Zones are less than this from UTC, and change no more than once in twice this time.
local AROUND = 26 * 3600

-- The moment at which clocks that showed `date` too late went forward over it.
local function change(zone, before, after)
  local offset = zone(before)
  while after - before > 1 do
    local middle = (before + after) // 2
    if zone(middle) == offset then before = middle else after = middle end
  end
  return after
end

-- The moments at which a zone's clocks show a date, none, one or two; and how far apart two are.
-- One that they skip is the moment of the change, unless the schedule repeats by the hour.
function Schedule:moments(zone, date)
  local before, after = zone(date - AROUND), zone(date + AROUND)
  if before == after then return { date - before }, 0 end
  local first, second = date - math.max(before, after), date - math.min(before, after)
  local found = {}
  if zone(first) == date - first then found[1] = first end
  if zone(second) == date - second then found[#found + 1] = second end
  if not self.is_every then
    found[2] = nil
    found[1] = found[1] or change(zone, first, second)
  end
  return found, second - first
end

--- The first moment after another, in seconds since 1970; nil: none.
-- @param zone what `moonloop.cron.zone` gives
function Schedule:next(after, zone)
  after = math.floor(after)
  local date = after + math.min(zone(after - AROUND), zone(after), zone(after + AROUND))
  local best, limit
  while true do
    date = self:following(date)
    if not date or limit and date >= limit then return best end
    local found, apart = self:moments(zone, date)
    for _, moment in ipairs(found) do
      if moment > after and (not best or moment < best) then
        best, limit = moment, limit or date + apart
      end
    end
  end
end

--- Reads a schedule; or returns nil and what is wrong.
return function(text)
  if type(text) ~= "string" then
    return nil, ('a schedule is a text such as "0 3 * * *", got %s'):format(
      host.given(text))
  end
  local ok, found = pcall(read, text)
  if ok then return found end
  if type(found) ~= "table" then error(found, 0) end
  return nil, found.whole or ('"%s": %s'):format(text, found.what)
end
