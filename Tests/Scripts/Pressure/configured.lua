-- A configuration watches pressure; here through a FIFO in place of the kernel's file.
local ml = require "moonloop"
local loop = ml.current()

local path = os.tmpname()
os.remove(path)
assert(ml.process.run({ "mkfifo", path }).code == 0)
local running <close> = ml.configure { sources = {
  memory = { pressure = "memory", file = path, stall = 0.1, handler = function(_, figures)
    loop:stop(figures.avg10)
  end },
} }
io.open(path, "w"):write("some avg10=3.50\n"):close()
local why, value = running:run { timeout = 10 }
assert(why == "stopped" and value == 3.5, why)
os.remove(path)
