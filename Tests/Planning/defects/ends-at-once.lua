-- Planted: the second phase has an observer and nothing else.
return {
  timers = { beat = { every = 1, handler = function() end } },
  observers = { seen = { on = "entry", modes = "drain", handler = function() end } },
  run = { { timeout = 60 }, { mode = "drain", timeout = 10 } },
}
