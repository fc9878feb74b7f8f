-- A stream is served where the task that reads it waits: in the common modes too, after default.
local ml = require "moonloop"
local loop = ml.current()

local unique = "@" .. os.tmpname()   -- other runs of the tests have sockets too
os.remove(unique:sub(2))
local server = assert(ml.net.listen { path = unique })
local seen = {}

loop:task(function()
  local other <close> = assert(server:accept())
  other:write "one\n"
  ml.sleep(0.01)
  other:write "two\n"
  ml.sleep(0.01)
end)

local stream <close> = assert(ml.net.connect { path = unique })
seen[1] = stream:read "l"
local task = loop:task({ modes = { "common", "moonloop.example" } }, function()
  seen[2] = stream:read "l"
end)
ml.timeout(5, task.await, task)
assert(table.concat(seen, " ") == "one two", table.concat(seen, " "))
server:invalidate()
