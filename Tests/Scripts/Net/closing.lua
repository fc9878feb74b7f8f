-- Closing everything from inside every handler; queued data is still sent after a close.
local ml = require "moonloop"
local unique = "@" .. os.tmpname()   -- other runs of the tests have sockets too
os.remove(unique:sub(2))
local loop = ml.current()
loop:task(function(scope)
  -- In the handler of a connection: its own stream, and the server.
  local server
  server = ml.net.listen { path = unique, function(stream)
    stream:write "bye"
    stream:invalidate()
    server:invalidate()
    assert(not stream:is_valid() and not server:is_valid())
  end }
  local stream = ml.net.connect { path = unique }
  assert(stream:read "a" == "bye")
  stream:close()
  stream:close()

  -- In a handler of events: the stream itself, at every event.
  for _, last in ipairs { "open_completed", "has_bytes", "has_space", "end" } do
    local path = unique .. last   -- a child of another test may hold the last one for a moment
    local server = assert(ml.net.listen { path = path })
    local stream = ml.net.connect { path = path }
    local other = server:accept()
    other:write "x"
    if last == "end" then other:shutdown() end
    local seen = {}
    stream:on(function(stream, event)
      seen[#seen + 1] = event
      if event == "has_bytes" then stream:read_some() end
      if event == last then stream:invalidate() end
    end)
    while stream:is_valid() do ml.sleep(0) end
    ml.sleep(1)
    assert(seen[1] == "open_completed" and seen[#seen] == last, table.concat(seen, " "))
    other:close()
    server:invalidate()
  end

  -- A close with bytes queued: they are sent, even if the stream has no reference left.
  local server = ml.net.listen { path = unique .. 2 }
  local stream = ml.net.connect { path = unique .. 2, write_limit = 1 << 30 }
  local other = server:accept()
  local size = 4 << 20
  stream:write(("x"):rep(size))
  assert(stream.queued > 0)
  stream:close()
  assert(not stream:is_valid())
  stream = nil
  collectgarbage()
  assert(#other:read "a" == size)

  -- A peer that never reads: the close gives up after its time limit.
  local stream = ml.net.connect { path = unique .. 2, write_limit = 1 << 30 }
  local deaf = server:accept()
  stream:write(("x"):rep(size))
  local start = ml.now()
  stream:close()
  ml.sleep(11)
  assert(#deaf:read "a" < size)
  deaf:close() other:close()
  server:invalidate()
end):wait()
assert(loop:run() == "finished")
