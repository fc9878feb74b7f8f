-- A timer can be fired by hand, whatever its date and modes (R141), and made tolerant later (R142).
local ml = require "moonloop"
local loop = ml.current()
local trace = {}
local function note(word)
  return function(_, missed) trace[#trace + 1] = word .. missed end
end

local every = loop:every(10, note "every")
assert(every:fire() and every:fire() and every.fires == 2)
assert(every.next_fire > ml.now() + 9)
local once = loop:timer { first = 10, modes = "other", note "once" }
assert(once:fire() and not once:is_valid())
assert(not pcall(once.fire, once))
local idle = ml.timer { every = 1, note "idle" }
assert(idle:fire() and #idle:modes() == 0)
idle = ml.timer { first = 1, note "alone" }
assert(idle:fire() and not idle:is_valid())
assert(table.concat(trace, " ") == "every0 every0 once0 idle0 alone0", table.concat(trace, " "))

-- Not while its handler is running or waiting.
local inner
local waiting = loop:every(10, function(timer)
  inner = timer:fire()
  ml.sleep(1)
end)
assert(waiting:fire() and inner == false and waiting:fire() == false)
loop:run { timeout = 2 }
assert(waiting:fire())
loop:run { timeout = 2 }
waiting:invalidate()

-- An error in the handler is reported, not raised.
local reported
loop.on_error = function(e) reported = e.message end
assert(loop:after(1, function() error("no luck", 0) end):fire() and reported == "no luck")
loop.on_error = nil

every.tolerance = 3
assert(every.tolerance == 3)
every.tolerance = 30
assert(every.tolerance == 5)
assert(not pcall(function() every.tolerance = -1 end))
every:invalidate()
assert(not pcall(function() every.tolerance = 1 end))
