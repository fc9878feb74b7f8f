-- Planted: a tolerance as long as the interval.
return {
  timers = { beat = { every = 5, handler = function() end,
    tolerance = 5 } },
}
