-- Planted: a handler in a module runs a misspelt mode; it is reported at its own line.
return {
  timers = {
    save = { every = 0.5, modes = { "default", "tracking" }, handler = "run_handlers.save" },
    press = { every = 2, handler = "run_handlers.press" },
  },
}
