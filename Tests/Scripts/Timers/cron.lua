-- Calendar schedules: which dates they mean, in which zone, and what is wrong with a text.
local ml = require "moonloop"
local loop = ml.current()
local parse = require "moonloop.cron.schedule"
local zone = require "moonloop.cron.zone"

-- The first dates of a schedule after a moment, in a zone, as text with the zone's offset.
local function dates(text, name, after, count)
  local clocks, schedule = assert(zone.named(name)), assert(parse(text))
  local found = {}
  for place = 1, count do
    after = schedule:next(after, clocks)
    local offset = clocks(after)
    found[place] = os.date("!%m-%d %H:%M", after + offset) .. ("%+d"):format(offset // 3600)
  end
  return table.concat(found, " ")
end

local function same(actual, expected) assert(actual == expected, actual) end

local monday = 1772409600  -- 2026-03-02 00:00 UTC
same(dates("0 3 * * *", "UTC", monday, 2), "03-02 03:00+0 03-03 03:00+0")
same(dates("*/20 9-10 * * *", "UTC", monday, 4),
  "03-02 09:00+0 03-02 09:20+0 03-02 09:40+0 03-02 10:00+0")
same(dates("5,10-12/2 0 * * *", "UTC", monday, 3), "03-02 00:05+0 03-02 00:10+0 03-02 00:12+0")
same(dates("0 0 * jan,Jun MON-tue", "UTC", monday, 2), "06-01 00:00+0 06-02 00:00+0")
same(dates("0 0 * * fri-sun", "UTC", monday, 4),
  "03-06 00:00+0 03-07 00:00+0 03-08 00:00+0 03-13 00:00+0")
same(dates("0 0 * * 7", "UTC", monday, 1), "03-08 00:00+0")
same(dates("0 0 13 * fri", "UTC", monday, 3), "03-06 00:00+0 03-13 00:00+0 03-20 00:00+0")
same(dates("0 0 */10 * mon", "UTC", monday, 1), "05-11 00:00+0")
same(dates("0 0 29 2 *", "UTC", monday, 1), "02-29 00:00+0")
same(dates("@monthly", "UTC", monday, 2), "04-01 00:00+0 05-01 00:00+0")
same(dates("@daily", "America/New_York", monday, 1), "03-02 00:00-5")

-- Berlin skips 02:00 to 03:00 on 29 March and repeats it on 25 October. A skipped date is due when
-- the clocks have gone forward, one that comes twice is due the first time.
local spring, autumn = 1774659600, 1792800000  -- the days before, 01:00 UTC and 00:00 UTC
same(dates("30 2 * * *", "Europe/Berlin", spring, 3), "03-28 02:30+1 03-29 03:00+2 03-30 02:30+2")
same(dates("0,30 2 * * *", "Europe/Berlin", spring + 3600, 2), "03-29 03:00+2 03-30 02:00+2")
same(dates("30 2 * * *", "Europe/Berlin", autumn + 3600, 3),
  "10-25 02:30+2 10-26 02:30+1 10-27 02:30+1")
-- Hourly or minutely schedules follow what the clocks show.
same(dates("30 * * * *", "Europe/Berlin", spring + 82800, 3),
  "03-29 01:30+1 03-29 03:30+2 03-29 04:30+2")
same(dates("*/30 2 * * *", "Europe/Berlin", spring + 82800, 1), "03-30 02:00+2")
same(dates("30 * * * *", "Europe/Berlin", autumn + 82800, 4),
  "10-25 01:30+2 10-25 02:30+2 10-25 02:30+1 10-25 03:30+1")
-- Half an hour on Lord Howe; and years for which the zone's file has a rule.
same(dates("15 2 * * *", "Australia/Lord_Howe", 1791032400, 2), "10-04 02:30+11 10-05 02:15+11")
same(dates("0 12 1 1,7 *", "Europe/Berlin", 4102444800, 2), "01-01 12:00+1 07-01 12:00+2")

-- Against a search minute by minute, in the week of the change.
local function compare(text, name, from)
  local clocks, schedule = zone.named(name), parse(text)
  local found = {}
  local at = from
  while at < from + 2 * 86400 do
    at = schedule:next(at, clocks)
    found[at] = true
  end
  for minute = from + 60, from + 2 * 86400, 60 do
    local shown = os.date("!*t", minute + clocks(minute))
    local is_due = schedule.minutes[shown.min] and schedule.hours[shown.hour]
    assert((found[minute] or false) == (is_due or false), text .. " at " .. minute)
  end
end
for _, text in ipairs { "* * * * *", "*/7 1-3 * * *", "5,35 * * * *", "0 */2 * * *" } do
  for _, from in ipairs { spring, autumn } do compare(text, "Europe/Berlin", from) end
  compare(text, "Australia/Lord_Howe", 1791000000)
  compare(text, "America/St_Johns", 1772900000 // 60 * 60)
end

-- Errors in a text, with the field.
local function wrong(expected, ...)
  local ok, message = pcall(loop.cron, loop, ...)
  local said = message:gsub(" %(Timers/cron.lua:%d+%)", "")
  assert(not ok and said:find("loop:cron: " .. expected, 1, true) == 1, message)
end
for text, what in pairs {
  ["0 25 * * *"] = "the hour must be from 0 to 23, got '25'",
  ["x * * * *"] = "the minute must be from 0 to 59, got 'x'",
  ["0 0 1 jna *"] = "the month has no 'jna'; did you mean 'jan'?",
  ["0 0 * * sat-mon"] = "the day of the week has 'sat-mon', which ends before it begins; "
    .. "write two ranges",
  ["5/15 * * * *"] = "the minute has '5/15', a step without a range; write '5-59/15'",
  ["*/0 * * * *"] = "the minute has '*/0', whose step must be a whole number > 0",
  ["1,,2 * * * *"] = "the minute has a list with nothing between commas: '1,,2'",
  ["0 0 3 * * *"] = "expected five fields (minute, hour, day of the month, month, day of the "
    .. "week), got 6",
} do
  wrong(('"%s": %s'):format(text, what), text, print)
end
wrong('"0 0 30 2 *" never comes: February has no day 30', "0 0 30 2 *", print)
wrong('"0 0 31 4,6 *" never comes: none of its months has a day 31', "0 0 31 4,6 *", print)
wrong("no schedule '@dayly'; did you mean '@daily'?", "@dayly", print)
wrong("a schedule is a text such as \"0 3 * * *\", got 3", 3, print)
wrong("the handler must be a function, got nil", "@daily")
wrong("the handler must be a function, got a table; options go with the schedule: loop:cron {",
  "@daily", { zone = "UTC" }, print)
wrong("no time zone 'Europe/Berln'", { "@daily", print, zone = "Europe/Berln" })
wrong("a time zone is a name", { "@daily", print, zone = "../etc/passwd" })
wrong("unknown option 'mode'; did you mean 'modes'?", { "@daily", print, mode = "default" })
local where = select(2, pcall(function() loop:timer { cron = "@daily", print } end))
assert(where:find "unknown option 'cron' %(.*%); use loop:cron { \"0 3 ", where)
where = select(2, pcall(function() loop:cron("1 2 3", print) end))
assert(where:find '^loop:cron: "1 2 3": expected five fields .* %(Timers/cron.lua:%d+%)$', where)

-- A timer with a schedule: its dates are on the wall clock, and it repeats until it is ended.
local trace, today = {}, os.time()
local daily = loop:cron { "0 3 * * *", zone = "UTC", name = "nightly", function(timer, missed)
  trace[#trace + 1] = os.date "!%H:%M " .. missed
  if #trace == 3 then timer:invalidate() end
end }
assert(daily.name == "nightly" and tostring(daily):find "nightly")
loop:run()
same(table.concat(trace, ", "), "03:00 0, 03:00 0, 03:00 0")
assert(os.time() - today > 2 * 86400 and os.time() - today <= 3 * 86400)

-- Fires that come while the handler waits are missed; firing by hand changes no date.
trace = {}
local quarter = loop:cron("*/15 * * * *", function(timer, missed)
  trace[#trace + 1] = os.date "!%H:%M " .. missed
  if #trace == 2 then ml.sleep(2400) end
  if #trace == 4 then timer:invalidate() end
end)
assert(quarter:fire())
loop:run()
same(table.concat(trace, ", "), "03:00 0, 03:15 0, 04:00 2, 04:15 0")
trace = {}

-- An error does not stop it; a late pass stands for all dates that have passed.
local errors = 0
loop.on_error = function() errors = errors + 1 return true end
local minutely = loop:cron("* * * * *", function(_, missed)
  trace[#trace + 1] = missed
  error "no luck"
end)
loop:run { timeout = 130 }
assert(errors == 2, errors)
minutely:invalidate()
loop.on_error = nil

-- Dates that are decades apart: 29 February on a Sunday.
trace = {}
local sundays, date = {}, os.time()
for place = 1, 2 do
  date = parse "0 0 29 2 */7":next(date, zone.named "UTC")
  sundays[place] = os.date("!%F", date)
end
local rare = loop:cron { "0 0 29 2 */7", zone = "UTC", function(timer)
  trace[#trace + 1] = os.date "!%F"
  if #trace == 2 then timer:invalidate() end
end }
loop:run()
same(table.concat(trace, " "), table.concat(sundays, " "))
same(os.date("!%F", parse "0 0 29 2 */7":next(1e9 // 1, zone.named "UTC")), "2004-02-29")
same(os.date("!%F", parse "0 0 29 2 */7":next(1.1e9 // 1, zone.named "UTC")), "2032-02-29")
same(os.date("!%F", parse "0 0 29 2 */7":next(3728937600, zone.named "UTC")), "2128-02-29")

-- A timer that fires once can be given another date, even in its handler.
trace = {}
local epoch = os.time() + 100
local once = loop:timer { at = epoch, name = "once", function(timer)
  trace[#trace + 1] = os.time() - epoch
  if #trace < 3 then assert(timer:again_at(os.time() + 50)) end
end }
loop:run()
same(table.concat(trace, " "), "0 50 100")
assert(not once:is_valid() and not pcall(once.again_at, once, 0))
assert(not pcall(loop.timer, loop, { at = 1, every = 1, print }))

-- Dates long past are due at once, even while everything is measured.
loop:metrics()
local old = 0
for _ = 1, 3 do loop:at(-9e9, function() old = old + 1 end) end
loop:run()
assert(old == 3)
