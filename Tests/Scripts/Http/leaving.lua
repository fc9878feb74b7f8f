-- A client that leaves is noticed at once: its waiting handler is cancelled, and nothing is
-- reported. For one that only half-closes, the server can still wait.
local ml = require "moonloop"
local http = ml.http
local loop = ml.current()

local GET <const> = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

local function connect(server, text)
  local stream = assert(ml.net.connect { host = "127.0.0.1", port = server.port })
  stream:write(text or GET)
  return stream
end

local function never_reported(problem) error("reported: " .. tostring(problem)) end

-- @param text what the client sends before it leaves
local function leave(how, text)
  local trace = {}
  local server <close> = assert(http.serve { host = "127.0.0.1", port = 0,
    on_error = never_reported, stream_bodies = true, function()
      trace[#trace + 1] = "begun"
      local done <close> = setmetatable({}, { __close = function() trace[#trace + 1] = "over" end })
      ml.sleep(3600)
      trace[#trace + 1] = "slept"
      return "too late"
    end })
  local began = ml.now()
  local stream = connect(server, text)
  while #trace == 0 do ml.sleep(0.01) end
  stream[how](stream)
  while server.connections > 0 do ml.sleep(0.01) end
  assert(table.concat(trace, " ") == "begun over", table.concat(trace, " "))
  assert(ml.now() - began < 60, ml.now() - began)
end

-- The handler goes on after its wait was cancelled, and fails: that is not
-- reported, as it is no mistake of the server.
local function fail_after_leaving(result)
  local server <close> = assert(http.serve { host = "127.0.0.1", port = 0,
    on_error = never_reported, function()
      pcall(ml.sleep, 3600)
      if result then return result end
      error "of the handler itself"
    end })
  local stream = connect(server)
  ml.sleep(0.1)
  stream:close()
  while server.connections > 0 do ml.sleep(0.01) end
end

-- Part of the answer is out: the handler that sends the rest ends.
local function leave_later()
  local parts = 0
  local server <close> = assert(http.serve { host = "127.0.0.1", port = 0,
    on_error = never_reported, function(_, response)
      while response:send "part\n" do
        parts = parts + 1
        ml.sleep(1)
      end
    end })
  local stream = connect(server)
  while parts < 3 do ml.sleep(0.1) end
  stream:close()
  while server.connections > 0 do ml.sleep(0.1) end
  assert(parts < 10, parts)
end

local function half_close()
  local server <close> = assert(http.serve { host = "127.0.0.1", port = 0, half_close = true,
    function()
      ml.sleep(1)
      return "patience"
    end })
  local stream <close> = connect(server)
  stream:shutdown()
  assert(stream:read("a"):find "patience")
end

-- Those that stay are served: also the second request of a connection, and an early one.
local function stay()
  local server <close> = assert(http.serve { host = "127.0.0.1", port = 0, function(request)
    ml.sleep(1)
    return request.path
  end })
  local stream <close> = assert(ml.net.connect { host = "127.0.0.1", port = server.port })
  for _, path in ipairs { "/a", "/b" } do
    stream:write("GET ", path, " HTTP/1.1\r\nHost: x\r\n\r\n")
  end
  stream:write "GET /c HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
  local text = stream:read "a"
  assert(text:find "/a.*/b.*/c$", text)
end

loop:task(function()
  leave "close"
  leave "invalidate"
  leave "shutdown"
  -- Unread input does not hide that it has left: a second request, a part of a body.
  for _, how in ipairs { "close", "invalidate" } do
    leave(how, GET .. GET)
    leave(how, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" .. ("x"):rep(5000))
  end
  fail_after_leaving()
  fail_after_leaving "too late"
  leave_later()
  half_close()
  stay()
end)
loop:run()
