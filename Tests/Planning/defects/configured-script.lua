-- Mistakes in a configuration that a script makes are seen in the table, without a run.
local ml = require "moonloop"
local interval = tonumber(arg[1]) or 5
local function beat() end
local first <close> = ml.configure {
  timers = {
    beat = { every = interval, handler = beat },
    tick = { evry = 2, handler = beat },
  },
}
local second <close> = ml.configure {
  timers = {
    ask = { every = 3, handler = function() ml.current():run() end },
    lost = { every = 2, modes = "darin", handler = beat },
  },
  sources = { work = { perform = beat } },
  run = { { timeout = 3 }, { mode = "drain" } },
}
second:run()
first:run()
local third <close> = ml.configure {
  timers = {
    often = { every = 1e-4, handler = beat },
    other = { every = interval, modes = arg[2], handler = beat },
  },
}
third:run()
