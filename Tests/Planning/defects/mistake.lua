-- Planted: a field that does not exist.
return {
  timers = { beat = { every = 1, handlr = print, handler = print } },
}
