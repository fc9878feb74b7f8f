-- Planted: as late as the interval is long.
return {
  timers = { beat = { every = 5, handler = function() end,
    tolerance = 5 } },
}
