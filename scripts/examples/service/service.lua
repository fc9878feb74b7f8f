-- A service as a configuration: it takes samples, writes them in batches, and drains at its end.
-- Look at it before it runs:
--
--   moonloop plan service.lua
--   moonloop check service.lua
--   moonloop simulate service.lua --for 1h
--   moonloop run --clock virtual service.lua
return {
  modes     = { common = { "default", "drain" } },
  limits    = { callout = 2 },
  timers    = {
    sample  = { every = 1, tolerance = 0.1, handler = "handlers.sample" },
    report  = { every = 10, tolerance = 1, handler = "handlers.report", modes = "common" },
    closing = { first = 34.5, handler = "handlers.closing" },
  },
  sources   = {
    batch   = { perform = "handlers.write", schedule = "handlers.remember", modes = "common" },
  },
  observers = { ending = { on = "exit", handler = "handlers.ending", modes = "common" } },
  signals   = { term = { stop = true } },
  run       = { { mode = "default" }, { mode = "drain", timeout = 10 } },
}
