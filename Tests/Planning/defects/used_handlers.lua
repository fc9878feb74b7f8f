-- The handlers of used-module.lua, and those of another configuration.
local ml = require "moonloop"
local M = {}
local function wait() ml.current():run { mode = "asking", timeout = 1 } end
function M.ask() wait() end
function M.press() ml.current():run { mode = "pressing", timeout = 1 } end
return M
