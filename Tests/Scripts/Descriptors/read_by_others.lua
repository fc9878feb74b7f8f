-- A descriptor that another's handler has emptied is not called for nothing (R61); one that still
-- has something to read keeps its turn.
local ml = require "moonloop"
local loop = ml.current()
local trace = {}
local ends, fds = {}, {}
for i = 1, 3 do
  local from, to = pipe()
  ends[i] = { from, to }
  write(to, "ab")
  fds[i] = loop:fd { fd = from, read = function(fd)
    local got = { fd:read(2) }
    if i == 1 then got = { got[1], fds[2]:read(2), fds[3]:read(1) } end
    trace[#trace + 1] = i .. ":" .. table.concat(got, ",")
  end }
end
assert(loop:run { timeout = 1 } == "timed_out")
assert(table.concat(trace, " ") == "1:ab,ab,a 3:b", table.concat(trace, " "))
for i = 1, 3 do
  fds[i]:invalidate()
  close(ends[i][1]) close(ends[i][2])
end
