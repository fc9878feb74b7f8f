-- A finalizer may read the stream whose read it interrupts: no byte is lost or read twice.
local ml = require "moonloop"
local loop = ml.current()

local count, all_sent = 2000, ml.channel()
local server = assert(ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
  for i = 1, count do stream:write(i, "\n") end
  stream:flush()
  all_sent:close()
end })

local seen, goes_on = {}, true
loop:task(function()
  local stream <close> = assert(ml.net.connect { host = "127.0.0.1", port = server.port })
  all_sent:receive()   -- so that no read has to wait, since another may not read meanwhile
  local function haunt()
    setmetatable({}, { __gc = function()
      if not goes_on then return end
      local ok, line = pcall(stream.read, stream, "l")
      if ok and line then
        seen[tonumber(line)] = (seen[tonumber(line)] or 0) + 1
      end
      haunt()
    end })
  end
  collectgarbage("incremental", 10, 1000, 6)
  for _ = 1, 3 do haunt() end
  for one, other in stream:lines("l", "l") do
    for _, line in ipairs { one, other } do
      seen[tonumber(line)] = (seen[tonumber(line)] or 0) + 1
    end
  end
  goes_on = false
  collectgarbage("incremental", 200, 100, 13)
  server:invalidate()
end)
loop:run()
for i = 1, count do assert(seen[i] == 1, ("line %d came %s times"):format(i, seen[i])) end
