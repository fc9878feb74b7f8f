-- Calendar timers in configurations: what they are, when they fire, and their mistakes.
local ml = require "moonloop"
local loop = ml.current()

local fired = {}
local running = ml.configure {
  timers = {
    nightly = { cron = "0 3 * * *", zone = "Europe/Berlin", tolerance = 0, handler = function(timer)
      fired[#fired + 1] = timer.name .. os.date("! %H:%M")
      timer:invalidate()
    end },
    once = { at = os.time() + 90, handler = function(timer) fired[#fired + 1] = timer.name end },
  },
}
running:run()
table.sort(fired)
assert(fired[1]:find "^nightly 0[12]:00$" and fired[2] == "once" and #fired == 2, fired[1])

local function is(expected, timer)
  timer.handler = print
  local ok, problem = pcall(ml.configure, { timers = { x = timer } })
  assert(not ok and problem:find(expected, 1, true), problem)
end
is("timers.x: needs 'every' or 'first', in seconds, 'at' or 'cron'", {})
is("timers.x: cannot have both 'every' and 'cron'", { every = 1, cron = "@daily" })
is("timers.x: cannot have both 'at' and 'cron'", { at = 1, cron = "@daily" })
is("timers.x: cannot have both 'first' and 'cron'", { first = 1, cron = "@daily" })
is("timers.x: has 'zone', which belongs to 'cron'", { every = 1, zone = "UTC" })
is("timers.x.cron: \"0 25 * * *\": the hour must be from 0 to 23, got '25'",
  { cron = "0 25 * * *" })
is("timers.x.zone: a time zone is a name such as", { cron = "@daily", zone = "a b" })
