-- The handlers of named-run.lua.
local ml = require "moonloop"
local loop = ml.current()
local M = {}
function M.press()
  loop:run { mode = "trackng", timeout = 1.6 }
end
function M.save()
  if loop.name == "quick" then loop:run { mode = "tracking", timeout = 0.1 } end
end
return M
