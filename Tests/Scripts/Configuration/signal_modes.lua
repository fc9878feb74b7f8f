-- A signal in a configuration is in the modes that it names.
local ml = require "moonloop"
local running <close> = ml.configure {
  signals = { usr1 = { handler = function() end, modes = { "drain", "closing" } } },
}
local why = ml.current():why(running.signals.usr1)
assert(why:find("drain, closing", 1, true), why)
