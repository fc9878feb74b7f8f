-- A configuration that a function builds is evaluated, as `run` does.
local ml = require "moonloop"
local function build()
  local config = { timers = {}, obsrvers = {} }
  config.timers.beat = { evry = 1, handler = function() ml.current():stop() end }
  return config
end
return build()
