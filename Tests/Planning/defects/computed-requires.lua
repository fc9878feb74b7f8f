-- It needs a module that is not there, and may be one itself.
local base = require "base_of_others"
base.timers.beat = { every = 1, handler = print }
return base
