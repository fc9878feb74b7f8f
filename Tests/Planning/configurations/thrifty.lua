-- What app.lua could be with tolerances.
return {
  timers = {
    heartbeat = { every = 5, tolerance = 2, handler = function() end },
    slow      = { every = 20, tolerance = 4, handler = function() end },
    new       = { every = 60, handler = function() end },
  },
}
