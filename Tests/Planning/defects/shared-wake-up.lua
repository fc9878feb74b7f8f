-- Planted: two wake-ups a second where one would do. What starts together shares them, and so does
-- what may be late by as much as it is early.
return {
  timers = {
    fan = { every = 1, handler = function() end },
    light = { every = 1, handler = function() end },
    other = { every = 1, tolerance = 0.1, handler = function() end },
    shifted = { every = 1, first = 0.5, handler = function() end },
    tolerant = { every = 1, first = 0.8, tolerance = 0.2, handler = function() end },
  },
}
