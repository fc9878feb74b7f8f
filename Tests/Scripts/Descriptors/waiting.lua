-- A descriptor whose handler waits is not polled meanwhile (D59), not even for bytes read ahead.
local ml = require "moonloop"
local loop = ml.current()
local from, to = pipe()
local trace = {}
loop:fd { fd = from, close = true, read = function(fd)
  local line, _, code = fd:read "l"
  trace[#trace + 1] = line or code
  if code == "EOF" then return fd:invalidate() end
  ml.sleep(1)
  trace[#trace + 1] = "."
end }
write(to, "a\nb\nc\n")
close(to)
assert(loop:run() == "finished")
assert(table.concat(trace, " ") == "a . b . c . EOF", table.concat(trace, " "))
