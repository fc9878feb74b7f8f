-- What tests are run on: fresh loops with clocks of their own, calls with a limit, leftovers. The
-- functions of the host are private; the test runner uses this.
local ml = require "moonloop"
local host = require "moonloop.testing.host"

local bed = {}
for name, value in pairs(host) do bed[name] = value end

-- The clock of each loop that is entered, the innermost last.
local clocks = {}

function bed.enter(options)
  host.enter(options or {})
  clocks[#clocks + 1] = options and options.clock or "real"
end

function bed.leave()
  host.leave()
  clocks[#clocks] = nil
end

-- What is alive: what the loop holds of the scripts, and descriptors that something else holds.
function bed.leftovers()
  local found = host.leftovers()
  for _, one in ipairs(found) do
    if not one.is_held then
      collectgarbage()  -- what nobody holds ends now
      collectgarbage()
      return host.leftovers()
    end
  end
  return found
end

-- How often the loop goes round for what became due meanwhile, before that is a mistake.
local ROUNDS = 100000

-- The next date of a timer, asked in a block of the next pass: while a timer is served, as it is
-- after a sleep, the loop tells the date of that one.
local function next_timer()
  local loop = ml.current()
  return ml.await(function(resume)
    loop:perform(function() resume(loop:next_timer()) end)
  end)
end

-- Moves the clock on: whatever becomes due meanwhile runs in its order, with its follow-up work.
function bed.advance(seconds)
  if clocks[#clocks] == "real" then
    error("advance: a real clock cannot be moved; use clock = \"virtual\"", 2)
  end
  if type(seconds) ~= "number" or seconds ~= seconds or seconds < 0 then
    error("advance: the time must be seconds, a number >= 0, got " .. tostring(seconds), 2)
  end
  ml.sleep(seconds)
  for _ = 1, ROUNDS do
    local due = next_timer()
    if not due or due > ml.now() then return end
  end
  error("advance: there is always another timer due at " .. ml.now() .. " s: "
    .. "something arms itself without a delay", 2)
end

return bed
