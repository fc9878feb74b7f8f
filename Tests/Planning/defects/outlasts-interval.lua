-- A timer whose handler takes longer than its interval.
return {
  timers = {
    poll = { every = 0.1, handler = function() require "moonloop".sleep(0.25) end },
  },
}
