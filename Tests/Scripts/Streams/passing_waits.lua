-- A descriptor waits for room like any write: behind queued data, with back-pressure and
-- deadlines; it is copied at the call.
local ml = require "moonloop"
local unique = "@" .. os.tmpname()   -- other runs of the tests have sockets too
os.remove(unique:sub(2))
local loop = ml.current()

local function connected(server, size)
  local stream = assert(ml.net.connect { path = unique, write_limit = size })
  return stream, assert(server:accept())
end

-- A stream that has more queued than fits into the socket.
local size = 4 << 20
local function full(server)
  local stream, other = connected(server, size)
  stream:write(("y"):rep(size))
  assert(stream.queued > 0)
  return stream, other
end

-- Many more than there is room for: the sender is as slow as the receiver.
local function pressure(scope, server)
  local sender, receiver = connected(server)
  local from, to = pipe()
  local source = ml.stream { fd = to, read = false }
  local count, gone = 300, 0
  local payload = ("x"):rep(4000)   -- receive_fd takes up to 4096 bytes
  local sending = scope:task(function()
    for index = 1, count do
      assert(sender:send_fd(source, ("%04d"):format(index) .. payload) == sender)
      gone = index
    end
    source:close()   -- the last one may still be on its way
    sender:write "after"
  end)
  repeat
    local before = gone
    for _ = 1, 5 do ml.sleep(0) end
  until gone == before
  assert(gone > 0 and gone < count, gone)
  assert(loop:why(sending):find "room for a descriptor in stream", loop:why(sending))
  local ok, message = pcall(sender.write, sender, "between")
  assert(not ok and message:find "waits to write already", message)

  for index = 1, count do
    local fd, data = receiver:receive_fd()
    assert(fd and data == ("%04d"):format(index) .. payload, index)
    local copy <close> = ml.stream { fd = fd, read = false }
    if index == count then copy:write "through the last" end
  end
  sending:await()
  assert(receiver:read(5) == "after")
  local input <close> = ml.stream { fd = from }
  assert(input:read "a" == "through the last")
  sender:close() receiver:close()
end

-- Its deadline: it was not sent, and what was queued before it stays. Closed meanwhile.
local function late(scope, server, source)
  local stream, other = full(server)
  stream.timeout = 3
  local queued, start = stream.queued, ml.now()
  local none, message, code = stream:send_fd(source)
  assert(none == nil and code == "ETIMEDOUT" and ml.now() - start >= 3, message)
  none, message, code = stream:send_fd(source, "late", { timeout = 0.5 })
  assert(none == nil and code == "ETIMEDOUT" and stream.queued == queued, message)
  local told
  local waiting = scope:task(function() told = table.pack(stream:send_fd(source)) end)
  ml.sleep(0)
  stream:close()
  waiting:await()
  assert(told[1] == nil and told[3] == "ECANCELED", told[2])
  assert(#other:read "a" == size)
  other:close()
end

local function ended(server, source)
  for _, how in ipairs { "cancel", "reset" } do
    local stream, other = full(server)
    local waiting = loop:task({ owner = "none" }, function() return stream:send_fd(source) end)
    ml.sleep(0)
    if how == "cancel" then
      waiting:cancel "enough"
      local ok, reason = pcall(waiting.await, waiting)
      assert(not ok and tostring(reason):find "enough", reason)
      assert(stream.queued > 0 and stream:is_valid())
    else
      other:invalidate()
      local none, message, code = waiting:await()
      assert(none == nil and (code == "EPIPE" or code == "ECONNRESET"), message)
    end
    stream:invalidate()
    other:invalidate()
  end
end

loop:task(function(scope)
  local server = assert(ml.net.listen { path = unique })
  pressure(scope, server)
  local from, to = pipe()
  local source <close> = ml.stream { fd = to, read = false }
  local input <close> = ml.stream { fd = from }
  late(scope, server, source)
  ended(server, source)

  -- Where waiting is impossible, the error says so.
  local stream, other = full(server)
  local ok, message
  table.sort({ 1, 2 }, function()
    ok, message = pcall(stream.send_fd, stream, source)
    return false
  end)
  assert(not ok and message:find "comparator of table.sort", message)
  for _, handle in ipairs { stream, other, server } do handle:invalidate() end
end):wait()
