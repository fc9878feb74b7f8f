-- A slow reader stops only its own writer; bytes that come one by one become a line at last.
local ml = require "moonloop"
local unique = "@" .. os.tmpname()   -- other runs of the tests have sockets too
os.remove(unique:sub(2))
local loop = ml.current()
local written = 0
local server = ml.net.listen { path = unique, write_limit = 1000, function(stream)
  if stream:read "l" == "flood" then
    for i = 1, 1000 do
      if not stream:write(("x"):rep(10000)) then return end
      written = i
    end
  else
    stream:write "fast\n"
  end
end }
loop:task(function()
  local slow = ml.net.connect { path = unique }
  for byte in ("flood\n"):gmatch "." do slow:write(byte) ml.sleep(0.1) end
  ml.sleep(1)
  local before = written
  assert(before < 1000)
  local fast <close> = ml.net.connect { path = unique }
  fast:write "x\n"
  assert(fast:read() == "fast")
  ml.sleep(1)
  assert(written == before, written)
  local count = 0
  while true do
    local data = slow:read_some(4096)
    if not data then break end
    count = count + #data
  end
  assert(count == 10000000 and written == 1000, count)
  slow:close()
  server:invalidate()
end):wait()

-- A line of a gigabyte, against the limit: it costs an error, not the memory.
local server = ml.net.listen { path = unique, line_limit = 1000, function(stream)
  local line, message, code = stream:read "l"
  assert(line == nil and code == "EMSGSIZE", message)
  local before = collectgarbage "count"
  assert(stream:read "l" == "next")
  assert(collectgarbage "count" - before < 10000)   -- kB, of 64 MB; other tasks allocate too
  stream:write "done"
end }
loop:task(function()
  local stream <close> = ml.net.connect { path = unique }
  local part = ("x"):rep(1 << 20)
  for _ = 1, 64 do assert(stream:write(part)) end
  stream:write "\nnext\n"
  assert(stream:read "a" == "done")
  server:invalidate()
end):wait()
