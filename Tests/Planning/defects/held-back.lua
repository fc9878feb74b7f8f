-- 'save' is in the default mode alone, which a nested run of 'press' holds back, also at the end.
return {
  timers = {
    press = { every = 2, handler = function()
      local loop = require "moonloop".current()
      local mouse <close> = loop:timer { every = 0.4, modes = "tracking", name = "mouse",
        function() end }
      loop:run { mode = "tracking", timeout = 1.6 }
    end },
    save = { every = 0.5, handler = function() end },
  },
}
