-- Over a limit: the guest cannot catch the stop; the host gets the line, and decides.
local ml = require "moonloop"
local loop = ml.current()

local function attack(text, limits, verdict, seconds)
  local limited, errors, written = {}, {}, 0
  local guest = ml.guest {
    name = "attack", text = "local ml = require 'moonloop' " .. text, allow = { "timers" },
    limits = limits,
    on_limit = function(guest, what)
      limited[#limited + 1] = what
      return verdict, seconds
    end,
    on_error = function(error) errors[#errors + 1] = error.traceback end,
    on_output = function(guest, bytes) written = written + #bytes end,
  }
  loop:run { timeout = 30 }
  local status = guest.status
  guest:stop()
  assert(guest.status == "ended")
  return limited, errors, status, written
end
local spin = "ml.current():every(1, function() while true do pcall(error) end end)"

local limited, errors, status = attack(spin, { instructions = 10000 }, "end")
assert(#limited == 1 and limited[1] == "callout" and status == "ended", limited[1])
assert(#errors == 1 and errors[1]:find "guest:1:", errors[1])

limited, errors, status = attack(spin, { instructions = 10000 })
assert(#errors == 11 and limited[#limited] == "stops" and status == "ended", #errors)

limited, errors, status = attack(spin, { instructions = 10000 }, "suspend")
assert(#errors == 1 and #limited == 1 and status == "suspended")

limited, errors, status = attack(spin, { instructions = 10000 }, "suspend", 7)
assert(#errors == 5 and status == "suspended", #errors)

limited, errors, status = attack("local t = {} while true do t[#t + 1] = {} end",
  { memory = "2M" }, "end")
assert(limited[1] == "memory" and status == "ended")

limited, errors = attack("for i = 1, 11 do local t = ml.current():source { print } end",
  { handles = 10 })
assert(#limited == 0 and errors[1]:find "the limit of 10 handles", errors[1])

local written
limited, errors, status, written = attack("for i = 1, 100 do print(('x'):rep(99)) end",
  { output = 1000 })
assert(#limited == 1 and limited[1] == "output" and written == 1000, written)
