-- Planted: nothing ends the first phase.
return {
  timers = {
    beat = { every = 1, handler = function() end },
    flush = { every = 5, handler = function() end, modes = "drain" },
  },
  run = { { mode = "default" }, { mode = "drain", timeout = 10 } },
}
