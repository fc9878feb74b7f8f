-- Mistakes that every command refuses.
return {
  timers = { beat = { every = 1, handler = print } },
  signals = { usr1 = { stop = true, handler = print }, usr2 = {} },
  run = {},
}
