-- A guest that writes a few bytes at a time: the host gets what waits joined, and all of it.
local ml = require "moonloop"
local loop = ml.current()
local calls, bytes = 0, 0
local guest <close> = ml.guest {
  limits = { callout = 3600 },   -- in real time, and this is about no limit
  text = "function flood() for i = 1, 100000 do print 'x' end end",
  on_output = function(_, text) calls, bytes = calls + 1, bytes + #text end,
}
loop:task(function()
  guest:call "flood"
  loop:stop()
end)
loop:run()
assert(bytes == 200000, bytes)
assert(calls < 100, calls)
