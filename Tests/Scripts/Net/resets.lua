-- A peer that resets at every step: the call under way fails, and no other is harmed.
local ml = require "moonloop"
local posix = require "moonloop.posix"
local loop = ml.current()

-- Connects by hand, and resets on request.
local function peer(port, bytes)
  local stream = assert(ml.net.connect { host = "127.0.0.1", port = port })
  if bytes then stream:write(bytes) stream:flush() end
  return stream
end
local function reset(stream)
  assert(posix.reset_on_close(stream.fd))
  stream:invalidate()
end

loop:task(function(scope)
  local steps = {
    -- What the server is doing when the peer resets, and the result.
    ["waits for a line"] = function(stream) return stream:read "l" end,
    ["waits for bytes"] = function(stream) return stream:read(100) end,
    ["waits for all"] = function(stream) return stream:read "a" end,
    ["reads lines"] = function(stream)
      local ok, message = pcall(function() for _ in stream:lines() do end end)
      return nil, not ok and message.message, not ok and message.code
    end,
    ["writes much"] = function(stream)
      for _ = 1, 1000 do
        local ok, message, code = stream:write(("x"):rep(1 << 16))
        if not ok then return nil, message, code end
      end
    end,
    ["flushes"] = function(stream)
      local ok, message, code
      repeat
        ok, message, code = stream:write(("x"):rep(1 << 16))
        if ok then ok, message, code = stream:flush() end
      until not ok
      return nil, message, code
    end,
    ["copies"] = function(stream)
      local r, w = pipe()
      local from <close> = ml.stream { fd = r, close = true }
      local to <close> = ml.stream { fd = w, close = true }
      return stream:copy_to(to)
    end,
  }
  for name, step in pairs(steps) do
    local told
    local server = assert(ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
      stream:write "begin"
      told = table.pack(step(stream))
    end })
    local other = peer(server.port, "x")
    assert(other:read(5) == "begin")
    ml.sleep(0)
    reset(other)
    while not told do ml.sleep(0) end
    assert(told[1] == nil and (told[3] == "ECONNRESET" or told[3] == "EPIPE"),
      name .. ": " .. tostring(told[2]))
    -- The next one is served as usual.
    told = nil
    local next <close> = peer(server.port)
    assert(next:read(5) == "begin")
    next:close()
    while not told do ml.sleep(0) end
    server:invalidate()
  end

  -- Before it was accepted: the listener goes on.
  local served = 0
  local server = assert(ml.net.listen { host = "127.0.0.1", port = 0 })
  for _ = 1, 5 do reset(peer(server.port, "x")) end
  local last <close> = peer(server.port, "last\n")
  repeat
    local stream = assert(server:accept())
    local line = stream:read "l"
    stream:close()
    served = served + 1
  until line == "last"
  assert(served <= 6, served)
  server:invalidate()
end):wait()
