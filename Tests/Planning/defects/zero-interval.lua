-- Planted: a timer that never lets the loop sleep.
return {
  timers = { spin = { every = 0.00001, handler = function() end } },
}
