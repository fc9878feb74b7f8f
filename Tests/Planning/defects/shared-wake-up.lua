-- Planted: two wake-ups a second where one would do.
return {
  timers = {
    fan = { every = 1, handler = function() end },
    light = { every = 1, handler = function() end },
    other = { every = 1, tolerance = 0.1, handler = function() end },
    shifted = { every = 1, first = 0.5, handler = function() end },
  },
}
