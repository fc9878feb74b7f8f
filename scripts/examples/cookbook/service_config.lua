-- Describe a program in a configuration file: timers, a socket, signals, phases
-- Data only, and checked as a whole before anything starts: all mistakes are reported at once.
-- `moonloop plan` shows what it makes, `moonloop simulate` runs an hour of it in no time.
--
--   moonloop run service_config.lua
--   moonloop plan service_config.lua
return {
  modes   = { common = { "default", "drain" } },
  limits  = { memory = "64M", callout = 2 },
  timers  = {
    greet = { every = 1, tolerance = 0.1, handler = function(timer)
      print("hello " .. timer.fires)
      if timer.fires == 3 then require "moonloop".current():stop() end
    end },
  },
  sources = {
    control = { listen = "unix:@org.example.cookbook", modes = "common",
      handler = function(stream) stream:write "at your service\n" end },
  },
  observers = {
    ending = { on = "exit", modes = "common", handler = function()
      print("phase '" .. require "moonloop".current().mode .. "' ends")
    end },
  },
  signals = { term = { stop = true } },
  run     = { { mode = "default" }, { mode = "drain", timeout = 1 } },
}
