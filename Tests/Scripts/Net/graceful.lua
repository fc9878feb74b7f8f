-- A close with unread input: no reset, so what was written arrives, even if the peer
-- reads late.
local ml = require "moonloop"
local loop = ml.current()
local size = 1 << 20
local big = ("x"):rep(size)

local function pair(address)
  local server = assert(ml.net.listen(address))
  local stream = assert(ml.net.connect {
    host = address.host, port = server.port, path = address.path, write_limit = size })
  local other = assert(server:accept())
  server:invalidate()
  return stream, other
end

-- The peer is this many passes late.
local function passes(count) for _ = 1, count do ml.sleep(0) end end

local unique = "@" .. os.tmpname()
os.remove(unique:sub(2))
local tcp = { host = "127.0.0.1", port = 0 }

-- Unread input: at a close, and at the end of a handler.
local function unread(address)
  local stream, other = pair(address)
  other:write "unread"
  stream:write(big)
  stream:close()
  passes(10)
  local all, message = other:read "a"
  assert(all and #all == size, message)
  other:close()

  local served = false
  local server = assert(ml.net.listen { host = address.host, port = address.port,
    path = address.path, write_limit = size, function(connection)
      connection:write(big)
      served = true
    end })
  local client <close> = assert(ml.net.connect {
    host = address.host, port = server.port, path = address.path })
  client:write "unread"
  while not served do ml.sleep(0) end
  passes(10)
  all, message = client:read "a"
  assert(all and #all == size, message)
  server:invalidate()
end

-- The peer goes on sending before it reads.
local function still_sending()
  local stream, other = pair(tcp)
  stream:write(big)
  stream:close()
  for _ = 1, 20 do
    assert(other:write(("y"):rep(1 << 14)))
    passes(2)
  end
  assert(other:flush())
  local all, message = other:read "a"
  assert(all and #all == size, message)
  other:close()
end

-- A peer that sends without end is reset after a time or an amount; so is one at an invalidate.
local function resets()
  local stream, other = pair(tcp)
  stream:write "x"
  stream:close()
  local ok, code, _
  repeat ok, _, code = other:write(big) until not ok
  assert(code == "EPIPE" or code == "ECONNRESET", code)
  other:invalidate()

  stream, other = pair(tcp)
  other:write "unread"
  stream:write "x"
  passes(2)
  stream:invalidate()
  assert(other:read(1) == "x")
  _, _, code = other:read "a"
  assert(code == "ECONNRESET", code)
  other:invalidate()
end

-- Closing a stream that was given away closes only this copy: its other owner goes on.
local function given_away()
  local stream, other = pair { path = unique }
  local carrier, carried = pair { path = unique .. "c" }
  assert(carrier:send_fd(stream))
  other:write "for its next owner\n"
  stream:write "first\n"
  stream:close()
  passes(5)
  local again <close> = ml.stream { fd = assert(carried:receive_fd()) }
  assert(again:read "l" == "for its next owner")
  again:write "second\n"
  assert(other:read "l" == "first" and other:read "l" == "second")
  carrier:close() carried:close() other:close()
end

loop:task(function()
  unread(tcp)
  unread { path = unique }
  still_sending()
  resets()
  given_away()
end):wait()

-- A silent peer holds nothing up: the run ends.
loop:task(function()
  local stream, other = pair(tcp)
  stream:write "x"
  stream:close()
  passes(3)
  other:invalidate()
end):wait()
assert(loop:run() == "finished")
