-- What docs/pictures/nested.svg shows: a timer whose handler runs its loop in the mode "dialog".
local ml = require "moonloop"

return {
  modes = { common = { "default", "dialog" } },
  timers = {
    clock = { every = 0.5, modes = "common", handler = function() end },
    save = { every = 0.4, handler = function() end },
    ask = { first = 2, handler = function()
      local loop = ml.current()
      loop:timer { first = 2.5, modes = "dialog", name = "answer", function() loop:stop() end }
      loop:run { mode = "dialog" }
    end },
    quit = { first = 7, handler = function() ml.current():stop() end },
  },
}
