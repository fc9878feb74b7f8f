-- Put a time limit on anything
-- `ml.timeout` ends what takes too long, wherever it waits: its `<close>` variables are closed,
-- its child tasks are cancelled, and you get `nil, message, "ETIMEDOUT"`.
--
--   moonloop run --clock virtual timeout.lua
local ml = require "moonloop"
local loop = ml.current()

local function slow(seconds)
  local held <close> = setmetatable({}, { __close = function() print "  given back" end })
  ml.sleep(seconds)
  return "done after " .. seconds .. " s"
end

loop:task(function()
  print(ml.timeout(2, slow, 1))
  print(ml.timeout(2, slow, 60))

  -- Operations that wait take a limit of their own as well.
  local channel = ml.channel()
  print(channel:receive { timeout = 0.5 })
end)
