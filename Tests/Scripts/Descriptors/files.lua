-- A regular file and /dev/null count as always ready.
local ml = require "moonloop"
local loop = ml.current()
local bytes = 0
loop:fd { fd = open_file "/proc/self/status", close = true, read = function(fd)
  local text = fd:read(100)
  if text then bytes = bytes + #text else fd:invalidate() end
end }
local empty = false
loop:fd { fd = open_file "/dev/null", close = true, read = function(fd)
  empty = select(3, fd:read(1)) == "EOF"
  fd:invalidate()
end }
assert(loop:run() == "finished")
assert(bytes > 100 and empty)
