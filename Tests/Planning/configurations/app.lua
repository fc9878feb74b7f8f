-- Every section that needs nothing opened.
return {
  modes     = { common = { "default", "drain" } },
  limits    = { memory = "64M", callout = 2.0, handles = 1000 },
  on_error  = "continue",
  timers    = {
    heartbeat = { every = 5, tolerance = 0.5, handler = function() end, modes = "common" },
    ask       = { every = 30, first = 3, handler = function()
      local ml = require "moonloop"
      local inner <close> = ml.current():timer { every = 0.5, modes = "org.example.ask",
        name = "inner", function() end }
      ml.current():run { mode = "org.example.ask", timeout = 2 }
    end },
    slow      = { every = 20, handler = function() require "moonloop".sleep(1) end },
    once      = { first = 0.25, handler = function() end, keep_alive = false },
  },
  sources   = {
    commands = { listen = "unix:app.sock", handler = function() end },
    input    = { fd = 0, read = function() end },
    work     = { perform = function() end },
  },
  observers = { flush = { on = { "before_waiting", "exit" }, handler = function() end } },
  signals   = { term = { stop = true }, hup = { handler = function() end } },
  run       = { { mode = "default" }, { mode = "drain", timeout = 10 } },
}
