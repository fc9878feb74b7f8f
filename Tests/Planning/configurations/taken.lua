-- A handler fails, and an error handler takes the error.
return {
  on_error = function() return "continue" end,
  timers = { bad = { every = 1200, handler = function() error "out of paper" end } },
}
