-- What a guest freezes is held to its limits while it is copied: one long string may be in a table
-- a thousand times.
local ml = require "moonloop"
local loop = ml.current()

local guest <close> = ml.guest { limits = { memory = "8M" }, on_error = function() end, text = [[
  local ml = require "moonloop"
  function freeze(size, count, parts)
    local text, whole = ("x"):rep(size), {}
    for part = 1, parts do
      whole[part] = {}
      for place = 1, count do whole[part][place] = text end
    end
    return pcall(ml.freeze, whole)
  end
]] }
loop:task(function()
  local done, message = guest:call("freeze", 1000000, 20, 1)
  assert(not done and message:find "larger than 8388608 bytes", message)
  done, message = guest:call("freeze", 100000, 10, 20)
  assert(not done and message:find "larger than 8388608 bytes", message)
  assert(guest:call("freeze", 1000, 10, 10))
end):wait { mode = "default" }
