-- os.time, os.date and os.clock follow a virtual clock; date conversion is Lua's own.
local ml = require "moonloop"
local loop = ml.current()

local time, ticks = os.time(), os.clock()
assert(math.type(time) == "integer" and time == ml.wall_time() // 1 | 0)
assert(os.time(nil) == time and os.date("!%T", nil) == os.date("!%T"))
local said = os.date "!%Y-%m-%d %H:%M:%S"
assert(said == os.date("!%Y-%m-%d %H:%M:%S", time), said)
assert(os.date() == os.date("%c", time) and os.date(nil) == os.date())
assert(os.date("*t").sec == os.date("*t", time).sec)

loop:run { mode = "default", timeout = 0 }
loop:after(3600, function() end)
assert(loop:run() == "finished")
assert(os.time() == time + 3600, os.time() - time)
assert(os.date "!%Y-%m-%d %H:%M:%S" == os.date("!%Y-%m-%d %H:%M:%S", time + 3600))
assert(os.clock() - ticks >= 3600.0 and os.clock() - ticks < 3660.0)
assert(os.difftime(os.time(), time) == 3600.0)

-- A loop that reads the clock until some time has passed uses that time.
local stop = os.clock() + 0.01
while os.clock() < stop do end
assert(os.time() == time + 3600)

-- Such a date works with loop:at: once, after 60 seconds.
local fired, begun = 0, ml.now()
loop:at(os.time() + 60, function() fired = fired + 1 end)
loop:run()
local passed = ml.now() - begun
assert(fired == 1 and passed > 59 and passed <= 60, passed)

-- Given dates are converted as usual, and the error messages are unchanged.
local moon = { year = 1969, month = 7, day = 20, hour = 20, isdst = false }
assert(os.date("%Y-%m-%d %H", os.time(moon)) == "1969-07-20 20" and moon.yday == 201)
assert(os.date("!%F %T", 86399) == "1970-01-01 23:59:59")
local function mistake(f, ...) return select(2, pcall(f, ...)) end
assert(mistake(function() os.time {} end):find "time.lua:%d+: field 'year' missing in date table")
assert(mistake(function() os.time(3) end):find "bad argument #1 to 'time' %(table expected")
assert(mistake(function() os.date "%Ez" end):find "bad argument #1 to 'date'")
assert(mistake(function() os.date("%c", "x") end):find "bad argument #2 to 'date'")

-- In a worker too, which shares this time.
local worker = ml.worker { source = [[
  local ml = require "moonloop"
  local time, ticks = os.time(), os.clock()
  ml.sleep(7200)
  return time, os.time() - time, os.clock() - ticks
]] }
loop:task(function()
  local first, later, passed = worker:await()
  assert(first == time + 3660, first - time)
  assert(later == 7200 and passed >= 7200.0 and passed < 7260.0, later)
end)
assert(loop:run() == "finished")
assert(os.time() == time + 3660 + 7200, os.time() - time)
