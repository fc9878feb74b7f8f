-- Planted: a defect in a handler that is named; it is told where it stands.
return {
  timers = { beat = { every = 1, handler = "bad_handlers.beat" } },
}
