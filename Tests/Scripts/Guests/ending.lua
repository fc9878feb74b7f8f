-- The end of a guest takes as long as one of its calls may, whatever its tasks hold; and what a
-- verdict had planned for it ends with it.
local ml = require "moonloop"
local loop = ml.current()

local output, began = 0, ml.now()
local text = [[
  local ml = require "moonloop"
  local loop = ml.current()
  function hold(count, body)
    body = load(body)
    for i = 1, count do
      loop:task(function()
        local held <close> = setmetatable({}, { __close = body })
        ml.sleep(1e9)
      end)
    end
  end
  function run() while true do end end
]]
loop:task(function()
  local guest = ml.guest { text = text, limits = { callout = 0.25 }, on_error = function() end,
    on_output = function() output = output + 1 end }
  guest:call("hold", 500, "while true do end")
  ml.sleep(0)
  guest:stop()
  assert(guest:usage().stops <= 2, guest:usage().stops)

  -- The words of an ended guest do not get past its handler. (A test fails if it prints.)
  local wordy = ml.guest { text = text, on_output = function() output = output + 1 end }
  wordy:call("hold", 1, "print 'closed'")
  ml.sleep(0)
  wordy:stop()

  local planned = ml.guest { text = text, limits = { callout = 0.01 }, on_error = function() end,
    on_limit = function() return "suspend", 60 end }
  assert(not pcall(planned.call, planned, "run"))
  ml.sleep(0)
  assert(planned.status == "suspended")
  planned:suspend()  -- for good, whatever was planned
  ml.sleep(100)
  assert(planned.status == "suspended")
  planned:resume()
  assert(not pcall(planned.call, planned, "run"))
  ml.sleep(0)
  planned:stop()
end):wait { mode = "default" }
assert(loop:run { timeout = 30 } == "finished", "nothing is planned for a guest that has ended")
assert(ml.now() - began < 130, ml.now() - began)
