-- Streams with TLS behave like streams: lines, large data both ways at once, half-close, events,
-- copies; and what is special to TLS: truncation, abandoned handshakes, misuse.
local ml = require "moonloop"
local loop = ml.current()

local folder = os.tmpname()
os.remove(folder)
local function pem(name) return folder .. "/" .. name .. ".pem" end

-- A connection with TLS: the client, and the server's function for its side.
local function connect(handler)
  local listener
  listener = assert(ml.net.listen { host = "127.0.0.1", port = 0, tls = { cert = pem "server" },
    function(stream)
      listener:invalidate()
      handler(stream)
    end })
  local stream = assert(ml.net.connect { host = "127.0.0.1", port = listener.port, timeout = 5,
    tls = { ca = pem "ca" } })
  return stream
end

local function fails(code, words, nothing, message, kind)
  assert(nothing == nil and kind == code, kind)
  assert(message:find(words, 1, true), message)
end

-- A megabyte each way at once, in odd pieces.
local function both_ways()
  local text = ("0123456789abcdef"):rep(1 << 16)
  local got
  local stream <close> = connect(function(stream)
    local reader = loop:task(function() got = stream:read "a" end)
    stream:write(text)
    stream:shutdown()
    reader:await()
  end)
  local back
  local reader = loop:task(function() back = stream:read "a" end)
  for at = 1, #text, 70001 do assert(stream:write(text:sub(at, at + 70000))) end
  assert(stream:shutdown())
  reader:await()
  assert(back == text)
  while got ~= text do ml.sleep(0.01) end
end

-- The writing side ends, the other goes on; a broken connection is not an end of file.
local function ends()
  local stream <close> = connect(function(stream)
    assert(stream:read "a" == "question")
    ml.sleep(0.1)
    stream:write "answer"
  end)
  stream:write "question"
  stream:shutdown()
  assert(stream:read "a" == "answer" and stream:read "a" == "")
  assert(stream:read "l" == nil and not pcall(stream.write, stream, "more"))

  local cut <close> = connect(function(stream)
    stream:write "half of "
    stream:flush()
    stream:invalidate()
  end)
  fails("ETLS_TRUNCATED", "bytes may be missing", cut:read "a")
  assert(cut.failure == "ETLS_TRUNCATED" and cut:read(8) == "half of ")
end

local function events()
  local stream = connect(function(stream)
    stream:write "one"
    ml.sleep(0.1)
    stream:write "two"
  end)
  local trace = {}
  stream:on(function(self, event, ...)
    trace[#trace + 1] = event == "has_bytes" and self:read_some() or event
    if event == "end" then self:close() end
  end)
  while stream:is_valid() do ml.sleep(0.01) end
  local text = table.concat(trace, " ")
  assert(text == "open_completed has_space one two end", text)
end

-- Through a copy, with a part left for a later read.
local function copies()
  local stream <close> = connect(function(stream)
    local other <close> = connect(function(peer) peer:write(("x"):rep(100000), "rest\n") end)
    assert(other:copy_to(stream, 100000) == 100000)
    assert(other:read "l" == "rest")
  end)
  assert(#stream:read "a" == 100000)
end

-- A socket pair, and TLS that begins in the middle; a server that speaks first.
local function starttls()
  local listener <close> = assert(ml.net.listen { path = "@tls.streams.lua", function(stream)
    assert(stream:read "l" == "STARTTLS")
    stream:write "go on\n"
    assert(stream:starttls { server = true, cert = pem "server", timeout = 5 } == stream)
    stream:write "welcome\n"
    assert(stream:read "l" == nil)
  end })
  local stream = assert(ml.net.connect { path = "@tls.streams.lua" })
  assert(stream.tls == nil)
  stream:write "STARTTLS\n"
  assert(stream:read "l" == "go on")
  assert(stream:starttls { host = "localhost", ca = pem "ca", timeout = 5 } == stream)
  assert(stream.tls.version == "TLSv1.3" and stream:read "l" == "welcome")
  local ok, message = pcall(stream.starttls, stream, { host = "localhost" })
  assert(not ok and message:find("has TLS already", 1, true), message)
  ok, message = pcall(stream.send_fd, stream, 0)
  assert(not ok and message:find("has TLS", 1, true), message)
  ok, message = pcall(ml.process.spawn, { "cat", stdin = stream })
  assert(not ok and message:find("has TLS, and the child would get", 1, true), message)
  stream:close()
  assert(not pcall(stream.starttls, stream, {}))
end

-- Peers that are silent, send something else, leave or send too early; cancelled handshakes.
local function handshakes()
  local silent <close> = assert(ml.net.listen { host = "127.0.0.1", port = 0,
    function(stream) stream:read "a" end })
  local function try(port, options)
    options.host, options.port = "127.0.0.1", port
    options.tls = options.tls or { ca = pem "ca" }
    return ml.net.connect(options)
  end
  fails("ETIMEDOUT", "a connection", try(silent.port, { timeout = 1 }))
  local task = loop:task(function() return try(silent.port, {}) end)
  ml.sleep(0.1)
  task:cancel()
  while silent.connections > 0 do ml.sleep(0.01) end

  local other <close> = assert(ml.net.listen { host = "127.0.0.1", port = 0,
    function(stream) stream:write "220 mail\r\n" end })
  fails("ETLS_PROTOCOL", "wrong version number", try(other.port, {}))
  local closing <close> = assert(ml.net.listen { host = "127.0.0.1", port = 0,
    function(stream) stream:read(1) end })
  local none, _, code = try(closing.port, {})
  assert(none == nil and (code == "ETLS_TRUNCATED" or code == "ECONNRESET"), code)

  -- For a server: clients that are silent or send something else.
  local calls = 0
  local server <close> = assert(ml.net.listen { host = "127.0.0.1", port = 0, max_connections = 1,
    tls = { cert = pem "server", timeout = 2 }, function() calls = calls + 1 end })
  local quiet <close> = assert(ml.net.connect { host = "127.0.0.1", port = server.port })
  local began = ml.now()
  local heard = quiet:read "a"
  assert(heard == "" and ml.now() - began > 1.9, ml.now() - began)
  assert(server.tls_failures == 1 and server.tls_failure:find "took too long")
  local plain <close> = assert(ml.net.connect { host = "127.0.0.1", port = server.port })
  plain:write "GET / HTTP/1.1\r\n\r\n"
  plain:read "a"
  assert(server.tls_failures == 2 and server.tls_failure:find "http request", server.tls_failure)
  assert(calls == 0 and server.connections == 0)

  -- After an abandoned handshake the stream can only be closed.
  local stream <close> = assert(ml.net.connect { host = "127.0.0.1", port = silent.port })
  fails("ETIMEDOUT", "the TLS handshake", stream:starttls { host = "x", timeout = 1 })
  fails("ECANCELED", "", stream:read "l")
  fails("ECANCELED", "", stream:write "x")
  local early <close> = assert(ml.net.connect { host = "127.0.0.1", port = other.port })
  assert(early:read(4) == "220 ")
  fails("ETLS_PROTOCOL", "before the handshake", early:starttls { host = "x" })
  fails("ECANCELED", "", early:write "a secret")
  local plain <close> = assert(ml.net.connect { host = "127.0.0.1", port = silent.port })
  local ok, message = pcall(plain.starttls, plain, { host = "localhost\0.example" })
  assert(not ok and message:find "zero byte", message)
  fails("ENOENT", "'ca' cannot be read", plain:starttls { host = "x", ca = "/nowhere.pem" })
  fails("ECANCELED", "", plain:write "a secret")
end

-- Without a handler: connections that are ready are accepted.
local function accept()
  local server <close> = assert(ml.net.listen { host = "127.0.0.1", port = 0,
    tls = { cert = pem "server" } })
  local client = loop:task(function()
    local stream <close> = assert(ml.net.connect { host = "127.0.0.1", port = server.port,
      tls = { ca = pem "ca" } })
    return stream:read "l"
  end)
  local stream <close>, peer = assert(server:accept { timeout = 5 })
  assert(stream.tls and peer.host == "127.0.0.1")
  stream:write "hello\n"
  assert(client:await() == "hello")
end

loop:task(function()
  assert(assert(ml.process.run { "Tests/Scripts/TLS/certificates.sh", folder }).code == 0)
  both_ways()
  ends()
  events()
  copies()
  starttls()
  handshakes()
  accept()
  assert(ml.process.run { "rm", "-r", folder })
end)
loop:run()
