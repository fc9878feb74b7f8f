-- Planted: a defect in a named handler; it is reported at its own line.
return {
  timers = { beat = { every = 1, handler = "bad_handlers.beat" } },
}
