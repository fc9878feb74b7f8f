-- task:wait serves what its task reads from, in its private mode (D50); where Lua cannot wait, a
-- read that must wait says why it cannot (D49), and one that need not wait returns data.
local ml = require "moonloop"
local loop = ml.current()
local from, to = pipe()
local stream = ml.stream { fd = from, name = "in" }
local ticks, done = 0, false
loop:task(function()
  local ticker = loop:every(0.1, function() ticks = ticks + 1 end)
  local reader = loop:task(function() return stream:read "l", stream:read "l" end)
  write(to, "one\n")
  local writer = loop:timer { first = 5, modes = { "default", "moonloop.wait.1" },
    function() write(to, "two\nthree\n") end }
  local before = ticks
  local one, two = reader:wait()
  assert(one == "one" and two == "two" and ticks == before)
  ticker:invalidate()
  local list = { 1, 2 }
  table.sort(list, function() assert(stream:read "l" == "three") return false end)
  local ok, message = pcall(table.sort, list, function() return stream:read "l" end)
  assert(not ok and message:find "cannot wait here: inside the comparator of table.sort", message)
  local idle = loop:task(function() return stream:read "l" end)
  local ok, message = pcall(idle.wait, idle, { timeout = 1 })
  assert(ok and message == nil)
  stream:close()
  done = true
end)
assert(loop:run() == "finished" and done)
close(to)
