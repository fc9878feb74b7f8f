-- The handlers of named-handlers.lua.
local ml = require "moonloop"
local M = {}
function M.beat()
  ml.current():run { timeout = 1 }
end
return M
