-- Timers that are held back, with no handler to blame: the mode of 'spin' runs after the others,
-- and 'press' runs the loop in a mode in which 'tick' is not.
return {
  timers = {
    press = { every = 10, handler = function()
      local ml = require "moonloop"
      local loop = ml.current()
      local mouse <close> = loop:timer { every = 0.1, modes = "tracking", name = "mouse",
        function() end }
      loop:run { mode = "tracking", timeout = 1.1 }
    end },
    spin  = { every = 0.05, modes = "modal", handler = function() end },
    tick  = { every = 0.25, handler = function() end },
  },
  run = { { mode = "default", timeout = 6.9 }, { mode = "modal", timeout = 2 },
    { mode = "default" } },
}
