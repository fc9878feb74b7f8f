-- What holds timers back: a nested run, a mode that does not run, their own handler, a clock hold.
-- Its trace is ../recordings/held.json; with an argument, it writes its metrics there.
local ml = require "moonloop"
local loop = ml.current()
loop:metrics()
local function nest(mode, time)
  local mouse <close> = loop:source { modes = mode, function() end }
  loop:run { mode = mode, timeout = time }
end
loop:timer { every = 0.25, name = "tick", function() end }
loop:timer { first = 0.3, name = "press", function() nest("tracking", 1) end }
loop:timer { every = 0.5, name = "spin", modes = "modal", function() end }
loop:timer { every = 1, name = "poll", function() ml.sleep(2.5) end }
loop:timer { first = 0.1, name = "ask", modes = "modal", function() nest("asking", 1) end }
loop:timer { first = 0.2, name = "answer", modes = "modal", function() end }
loop:timer { first = 2, name = "soon", function() end }
if not arg[1] then ml.process.spawn { "sleep", "0.2" } end
loop:run { timeout = 4 }
loop:run { mode = "modal", timeout = 2 }
if arg[1] then
  local file <close> = assert(io.open(arg[1], "w"))
  file:write(require "moonloop.json".encode(loop:metrics()))
end
os.exit(0)
