-- The second parameter of a test: the clock of its loop.
local bed = require "moonloop.testing.bed"
local ml = require "moonloop"
local given = require("moonloop.text.host").given

local clock = {}
clock.__index = function(_, key)
  local value = clock.methods[key]
  if value == nil then
    error(("clock: no field '%s'; the fields are advance, kind and now"):format(tostring(key)), 2)
  end
  return value
end
clock.__newindex = function(_, key)
  error(("clock: '%s' cannot be set; move it with clock:advance(seconds)"):format(tostring(key)), 2)
end
clock.__name = "moonloop.testing.clock"
clock.methods = {}

local kinds = setmetatable({}, { __mode = "k" })

--- Makes the clock of a test.
-- @param kind "real", "virtual" or "skip_idle"
function clock.new(kind)
  local new = setmetatable({}, clock)
  kinds[new] = kind
  return new
end

--- Seconds on the loop's clock, like `ml.now()`.
function clock.methods.now() return ml.now() end

--- "real", "virtual" or "skip_idle".
function clock.methods.kind(self) return kinds[self] end

--- Moves a virtual clock: every timer that becomes due runs in order, with its follow-up work.
function clock.methods.advance(self, seconds)
  if not kinds[self] then
    error("clock:advance: must be called with a colon", 2)
  end
  if type(seconds) ~= "number" or not (seconds >= 0 and seconds < math.huge) then
    error("clock:advance: 'seconds' must be a finite number >= 0, got " .. given(seconds), 2)
  end
  if kinds[self] == "real" then
    error("clock:advance: this test runs in real time; "
      .. "give it { clock = \"virtual\" }", 2)
  end
  bed.advance(seconds)
end

return clock
