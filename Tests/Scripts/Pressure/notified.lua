-- Pressure, reported through a FIFO in place of the kernel's file: each write is a notification.
local ml = require "moonloop"
local loop = ml.current()

local path = os.tmpname()
os.remove(path)
assert(ml.process.run({ "mkfifo", path }).code == 0)
local function report(text)
  local file <close> = assert(io.open(path, "w"))
  file:write(text)
end

local told = ml.channel(10)
local pressure = assert(loop:pressure { resource = "memory", file = path, stall = 0.1, window = 1,
  function(handle, figures)
    figures.handle = handle
    told:send(figures)
  end })
assert(pressure.resource == "memory" and pressure.level == "some" and pressure.name == "memory")
assert(tostring(pressure):find "^pressure 'memory' %(made at ")

-- The level's line is reported: shares of the time in percent, and the time itself in seconds.
report "some avg10=2.50 avg60=1.25 avg300=0.50 total=1500000\n"
local figures = told:receive()
assert(rawequal(figures.handle, pressure))
assert(figures.avg10 == 2.5 and figures.avg60 == 1.25 and figures.avg300 == 0.5)
assert(figures.total == 1.5)

-- A text without that line is a notification without figures.
report "full avg10=1.00 avg60=0.00 avg300=0.00 total=7\nsome nonsense=x avg10=inf y\n"
figures = told:receive()
figures.handle = nil
assert(next(figures) == nil)
assert(pressure.fires == 2)

-- "full" is the other line.
local full = assert(loop:pressure { resource = "io", file = path, level = "full", name = "disk",
  modes = "private", function(_, all) told:send(all) end })
loop:remove(pressure)
report "some avg10=9.00 total=1\nfull avg10=1.00 avg60=0.00 avg300=0.00 total=2000000\n"
while full.fires == 0 do loop:run { mode = "private", timeout = 0 } end
figures = told:receive()
assert(figures.avg10 == 1 and figures.total == 2)

-- How dumps and `why` describe it.
loop:add(pressure)
local state = "memory, some tasks stalled for 0.1 s within 1 s"
assert(loop:dump():find("pressure  memory  default", 1, true), loop:dump())
assert(loop:dump():find(state, 1, true), loop:dump())
local why = loop:why(full)
assert(why:find("'default', but it is in private", 1, true), why)
why = loop:why(pressure)
assert(why:find("the kernel has not reported pressure: " .. state, 1, true), why)
assert(loop:modes().default.fds == 1)

-- Once ended, it reports nothing more.
pressure:invalidate()
full:invalidate()
assert(pressure.resource == nil and pressure.level == nil)
assert(loop:why(pressure):find("it was invalidated at ", 1, true))
os.remove(path)
