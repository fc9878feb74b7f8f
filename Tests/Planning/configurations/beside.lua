-- A module beside the configuration is found from any folder.
local rate = require "beside_rate"

return { timers = { tick = { every = rate.every, handler = rate.tick } } }
