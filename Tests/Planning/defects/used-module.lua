-- Planted: of a module of several configurations, only what this one names is looked at.
return {
  timers = { ask = { every = 1, handler = "used_handlers.ask" } },
}
