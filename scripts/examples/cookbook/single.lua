-- Run only one copy of a program
-- A lock on a file, held as long as the program lives: it is free again even after `kill -9`. The
-- second copy says which process has it.
--
--   moonloop run single.lua [FILE]
local ml = require "moonloop"
local loop = ml.current()

local path = arg[1] or "/tmp/single.lock"
local file = assert(ml.fs.open(path, "a+"))
local locked, _, code = file:lock { timeout = 0.2 }
if not locked then
  print(code == "ETIMEDOUT" and "already running: process " .. ml.fs.read(path) or code)
  os.exit(1)
end

file:truncate(0)
file:write(tostring(ml.process.id()))
loop:signal({ "int", "term" }, function()
  file:close()  -- also keeps it: a file that nothing refers to is closed, and its lock is free
  loop:stop()
end)
print "running"
