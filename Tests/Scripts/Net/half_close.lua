-- Half-closed connections: one side has finished sending and still reads; a reset is a read error.
local ml = require "moonloop"
local loop = ml.current()
local seen = {}
local server = ml.net.listen { host = "127.0.0.1", port = 0, name = "half",
  function(stream)
    local text = stream:read "a"
    stream:write("got ", #text):close()
  end }
loop:task(function()
  local stream <close> = ml.net.connect { host = "127.0.0.1", port = server.port }
  stream:write("x"):shutdown "write"
  assert(stream:read "a" == "got 1")
  local ok, message = pcall(stream.write, stream, "more")
  assert(not ok and message:find "its write side was shut down", message)
end):wait()
server:invalidate()

-- Unread bytes when the other side closes: a reset. What came before it can still be read.
local server = ml.net.listen { host = "127.0.0.1", port = 0,
  function(stream) stream:read(1) stream:write "partial" ml.sleep(1) stream:invalidate() end }
loop:task(function()
  local stream <close> = ml.net.connect { host = "127.0.0.1", port = server.port }
  stream:write "x"
  ml.sleep(0.5)
  stream:write "unread"
  ml.sleep(2)
  assert(stream:read(4) == "part")
  local data, message, code = stream:read(10)
  assert(data == nil and code == "ECONNRESET", message)
  assert(message:find "Connection reset by peer", message)
  assert(stream:read_some() == "ial")
  assert(select(3, stream:read_some()) == "ECONNRESET")
  stream:write "a"
  local ok, message, code = stream:write "b"
  assert(ok == nil and (code == "EPIPE" or code == "ECONNRESET"), message)
end):wait()
server:invalidate()
