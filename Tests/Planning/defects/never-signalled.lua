-- Planted: a source that is never signalled.
return {
  timers = { beat = { every = 1, handler = function() end } },
  sources = { work = { perform = function() end } },
}
