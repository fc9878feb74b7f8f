-- What peers must not do: send heads and bodies that are too large, or stay silent. What is
-- malformed is in smuggling.lua.
local ml = require "moonloop"
local http = ml.http
local loop = ml.current()

local calls = 0
local server = assert(http.serve { host = "127.0.0.1", port = 0, max_head = 2000, max_body = 1000,
  idle_timeout = 0.5, function(request)
    calls = calls + 1
    if request.path == "/fail" then error "no luck" end
    return "ok"
  end })

-- Sends bytes and returns the first line of the answer, and whether the connection was closed after
-- it.
local function ask(bytes)
  local stream <close> = assert(ml.net.connect { host = "127.0.0.1", port = server.port })
  assert(stream:write(bytes))
  local answer = stream:read("a", { timeout = 5 })
  return answer and answer:match "^HTTP/1.1 (%d+)", answer
end

local function is(expected, bytes)
  local status, answer = ask(bytes)
  assert(status == expected, ("%s for %q: %s"):format(tostring(status), bytes:sub(1, 60), answer))
end

loop:task(function()
  local closing <close> = server
  is("200", "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
  is("200", "\r\nGET / HTTP/1.0\r\n\r\n")
  is("200", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    .. "3;ext=1\r\nabc\r\n0\r\nTrailer: x\r\n\r\n")
  is("400", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
  is("501", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n")
  is("431", "GET / HTTP/1.1\r\nHost: x\r\nX: " .. ("x"):rep(3000) .. "\r\n\r\n")
  is("413", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n" .. ("x"):rep(1001))
  is("413", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n7d1\r\n"
    .. ("x"):rep(2001))
  assert(calls == 3, calls)

  -- Two requests in one packet are answered in order; a silent peer is disconnected.
  local _, both = ask("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n"
    .. "GET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
  assert(select(2, both:gsub("HTTP/1.1 200 OK", "")) == 2, both)
  local begin = ml.now()
  local status = ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
  assert(status == "200" and ml.now() - begin >= 0.49)

  -- A client does not wait forever, nor accept too large an answer.
  local quiet = assert(ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
    stream:read "a"  -- says nothing until the peer is gone
  end })
  local url = "http://127.0.0.1:" .. quiet.port .. "/"
  assert(select(3, http.get(url, { timeout = 0.2 })) == "ETIMEDOUT")
  quiet:invalidate()
  local large = assert(http.serve { host = "127.0.0.1", port = 0, function()
    return ("x"):rep(5000)
  end })
  url = "http://127.0.0.1:" .. large.port .. "/"
  assert(select(3, http.get(url, { max_body = 4999 })) == "EMSGSIZE")
  assert(#http.get(url, { max_body = 5000 }).body == 5000)
  large:invalidate()
end)
loop:run()
