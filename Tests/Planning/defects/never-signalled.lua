-- Planted: a source that nobody signals.
return {
  timers = { beat = { every = 1, handler = function() end } },
  sources = { work = { perform = function() end } },
}
