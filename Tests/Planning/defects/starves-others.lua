-- Planted, seen with --for: a handler that works longer than another's interval.
return {
  timers = {
    tick = { every = 0.005, handler = function() end },
    work = { every = 0.5, handler = function()
      local stop = os.clock() + 0.05
      while os.clock() < stop do end
    end },
  },
}
