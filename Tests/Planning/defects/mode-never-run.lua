-- Planted: a misspelt mode.
return {
  timers = {
    beat = { every = 1, handler = function() end },
    flush = { every = 5, handler = function() end,
      modes = "drian" },
  },
  run = { { mode = "default", timeout = 60 }, { mode = "drain", timeout = 10 } },
}
