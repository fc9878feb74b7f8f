-- A time limit covers the whole operation, however slowly the other side goes on.
local ml = require "moonloop"
local http = ml.http
local loop = ml.current()

-- Sends a text one byte a second, after a text that is sent at once.
local function trickle(stream, at_once, slowly)
  stream:write(at_once)
  for byte in slowly:gmatch "." do
    ml.sleep(1)
    if not stream:write(byte) then return end
  end
end

local function listen(at_once, slowly)
  return assert(ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
    stream:read "L"
    trickle(stream, at_once, slowly)
    stream:close()
  end })
end

-- Asks with a time limit; whichever side ends, it does so within the limit.
local function times_out(at_once, slowly)
  local slow = listen(at_once, slowly)
  local began = ml.now()
  local server = "http://127.0.0.1:" .. slow.port
  local response, message, code = http.get(server:gsub("//", "//me:word@") .. "/x?key=secret",
    { timeout = 2.5 })
  assert(not response and code == "ETIMEDOUT", response and response.status or code)
  local expected = ("GET %s/x: not done within 2.5 s: waited for "):format(server)
  assert(message:sub(1, #expected) == expected, message)
  local took = ml.now() - began
  assert(took >= 2.5 and took < 3, took)
  slow:invalidate()
end

-- A whole body has its own limit, unless the handler reads it.
local function whole_body()
  for streams, status in pairs { [false] = "408", [true] = "200" } do
    local patient <close> = assert(http.serve { host = "127.0.0.1", port = 0, timeout = 4,
      body_timeout = 5, stream_bodies = streams, function(request)
        while streams and request:read() do end
        return "ok"
      end })
    for _, framing in ipairs { "Content-Length: 10\r\n", "Transfer-Encoding: chunked\r\n" } do
      local slow <close> = assert(ml.net.connect { host = "127.0.0.1", port = patient.port })
      local began = ml.now()
      local sender = loop:task(function()
        trickle(slow, "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" .. framing .. "\r\n",
          framing:find "chunked" and "2\r\nxx\r\n0\r\n\r\n" or "0123456789")
      end)
      assert(slow:read("a"):find("^HTTP/1.1 " .. status))
      local took = ml.now() - began
      assert(streams and took > 9 or not streams and took >= 5 and took < 5.5, took)
      sender:cancel()
    end
  end
end

loop:task(function()
  whole_body()
  times_out("HTTP/1.1 200 OK\r\n\r\n", "0123456789")
  times_out("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", "0123456789")
  times_out("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "a\r\n0123456789\r\n0\r\n\r\n")
  times_out("", "HTTP/1.1 200 OK\r\n\r\n")
  times_out("HTTP/1.1 200 OK\r\n", "X: a\nY: b\nZ: c\n")

  -- A body that a function gives: neither it nor a peer that reads nothing outlasts the limit.
  -- It holds its stream: one that nothing refers to is collected, and resets the connection.
  local deaf = assert(ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
    ml.sleep(20)
    stream:close()
  end })
  for _, pause in ipairs { 0.3, 5 } do
    local began = ml.now()
    local response, _, code = http.post("http://127.0.0.1:" .. deaf.port .. "/", function()
      ml.sleep(pause)
      return "part"
    end, { timeout = 2.5 })
    assert(not response and code == "ETIMEDOUT", code)
    local took = ml.now() - began
    assert(took >= 2.5 and took < 3, took)
  end
  deaf:invalidate()

  -- The server gives a whole head no more time than one read: each line alone would be in time.
  local calls = 0
  local server <close> = assert(http.serve { host = "127.0.0.1", port = 0, timeout = 3,
    idle_timeout = 5, function() calls = calls + 1 return "ok" end })
  local stream <close> = assert(ml.net.connect { host = "127.0.0.1", port = server.port })
  local began = ml.now()
  local function send(to, beginning, ending)
    return loop:task(function()
      to:write(beginning)
      for i = 1, 10 do
        ml.sleep(2)
        if not to:write(("X-%d: 1\r\n"):format(i)) then return end
      end
      to:write(ending)
    end)
  end
  local sender = send(stream, "GET / HTTP/1.1\r\n", "Host: x\r\nConnection: close\r\n\r\n")
  stream:read "a"
  assert(calls == 0 and ml.now() - began < 3.5, ml.now() - began)
  sender:cancel()

  -- Nor a trailer.
  local stream <close> = assert(ml.net.connect { host = "127.0.0.1", port = server.port })
  began = ml.now()
  sender = send(stream,
    "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "\r\n")
  assert(stream:read("a"):find "^HTTP/1.1 408 ")
  assert(calls == 0 and ml.now() - began < 3.5, ml.now() - began)
  sender:cancel()
end)
loop:run()
