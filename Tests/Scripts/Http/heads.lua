-- Heads: what a request must have, and what a handler may answer.
local ml = require "moonloop"
local http = ml.http
local loop = ml.current()

local answer, reported
local server = assert(http.serve { host = "127.0.0.1", port = 0, max_head = 2000,
  on_error = function(e) reported = e.message end, function(request)
    if type(answer) == "function" then return answer(request) end
    return table.unpack(answer)
  end })

-- Sends bytes, keeps the connection open, and returns the answer.
local function ask(bytes)
  local stream <close> = assert(ml.net.connect { host = "127.0.0.1", port = server.port })
  assert(stream:write(bytes))
  return (stream:read("a", { timeout = 5 }))
end

local function is(expected, bytes)
  local text = ask(bytes)
  local status = text and text:match "^HTTP/1.1 (%d+)"
  assert(status == expected, ("%s for %q: %s"):format(tostring(status), bytes:sub(1, 60), text))
end

local function get(target, fields)
  return ("GET %s HTTP/1.1\r\nConnection: close\r\n%s\r\n"):format(target, fields or "Host: x\r\n")
end

local function wrong_answers()
  for message, bad in pairs {
    ["a body must be a string, a number or a function, got a table; ml.json.encode makes a text "
      .. "of one"] = { { body = { "abc" } } },
    ["the headers must be a table, got \"x: y\""] = { 200, "ok", "x: y" },
    ["the status must be a whole number from 200 to 999, got \"200\""] = { { status = "200" } },
    ["the headers have names, e.g. { accept = \"text/html\" }; got [1]"] = { 200, "ok", { "x" } },
    ["the header 'x-a' must be a string, a number or a list of them, got a table with a"] = {
      200, "ok", { ["X-A"] = { a = 1 } } },
  } do
    answer = bad
    is("500", get "/")
    assert(reported == "ml.http.serve: GET /: " .. message, reported)
  end
  -- A complete answer has a length, whatever its handler says.
  answer = { 200, "ok", { ["Transfer-Encoding"] = "chunked" } }
  local whole = ask(get "/")
  assert(not whole:lower():find "transfer%-encoding" and whole:find "content%-length: 2\r\n", whole)
end

-- What most requests say is read in another way than what few say.
local function hosts_and_connections()
  for _, host in ipairs { "x:y", "x:1:2", "x:65536", "[::1", "::1", "[x]", "x:80 y" } do
    is("400", get("/", "Host: " .. host .. "\r\n"))
    is("400", ("GET / HTTP/1.1\r\nHost: %s\r\n\r\n"):format(host))
  end
  for _, fields in ipairs { "Host: x:65535", "Host: x:00080",
    "Host: x\r\nConnection: keep-alive" } do
    local text = ask(("GET / HTTP/1.1\r\n%s\r\n\r\n"):format(fields) .. get "/")
    assert(select(2, text:gsub("HTTP/1.1 200 ", "")) == 2, text)
  end
  for _, words in ipairs { { "keep-alive", "close" }, { "close", "keep-alive" } } do
    local fields = "Connection: " .. table.concat(words, "\r\nConnection: ")
    local text = ask(("GET / HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n"):format(fields))
    assert(text:find "^HTTP/1.1 200 ", text)
  end
end

loop:task(function()
  local closing <close> = server
  answer = { "ok" }
  is("400", get("/", "Host: x\r\nhost: y\r\n"))
  is("400", get("/", "Host: a b\r\n"))
  hosts_and_connections()
  is("200", get("/", "Host: x:80\r\n"))
  is("200", get("/", "Host: x_y.example-1:\r\n"))
  is("200", get("/", "Host: [::1]:8080\r\n"))
  is("200", get("/", "Host:\r\n"))
  is("200", "GET / HTTP/1.0\r\n\r\n")
  is("200", "\r\n" .. get "/")  -- RFC 9112, 2.2
  is("400", "\r\n\r\n\r\n" .. get "/")
  for _, target in ipairs { "x", "x/y", "/%", "/%4", "/%zz", "/a#b", "/a\\b", "/a\"b", "/<b>",
    "/caf\xe9", "http://", "//a b", "*", "?q", "?", "x:1",
    "/a%00b", "ftp://x/y", "http://u:p@x/y", "http://x:99999/" } do
    is("400", get(target))
  end
  for _, target in ipairs { "/", "/%41?q=%20&r", "http://x/y", "http://x", "http://x?q", "//x/y",
    "/a;b=c,d:e@f!$&'()*+~", "/[1]" } do
    is("200", get(target))
  end
  local function options(method, target) return (get(target):gsub("^GET", method)) end
  is("200", options("OPTIONS", "*"))
  is("501", options("CONNECT", "x:80"))
  is("400", options("CONNECT", "x:99999"))
  is("400", options("CONNECT", "/"))
  is("400", options("CONNECT", "x"))
  answer = function(request) return request.path .. " " .. request.query_text end
  for target, seen in pairs { ["http://x/y?q=1"] = "/y q=1", ["http://x"] = "/ ",
    ["http://x?q"] = "/ q", ["/y?q=1"] = "/y q=1", ["//x/y"] = "//x/y " } do
    local text = ask(get(target))
    assert(text:find("\r\n\r\n" .. seen, 1, true), target .. ": " .. text)
  end
  -- The host of an address counts, not that of the field.
  answer = function(request) return request.headers.host end
  for target, host in pairs { ["http://other:80/y"] = "other:80", ["/y"] = "x", ["//o/y"] = "x" } do
    assert(ask(get(target)):match "\r\n\r\n(.*)" == host, target)
  end
  answer = { "ok" }
  -- A line that is too long is answered at once, without waiting for its end or a time limit.
  local began = ml.now()
  is("431", "GET /" .. ("x"):rep(3000))
  is("431", "GET / HTTP/1.1\r\nHost: x\r\nX: " .. ("x"):rep(3000))
  assert(ml.now() - began < 2, ml.now() - began)

  -- Fields are strings, numbers, or lists of them; anything else is an error of the handler.
  answer = { { headers = { ["Set-Cookie"] = { "a=1", "b=2" }, ["X-Count"] = 3 } } }
  local text = ask(get "/")
  assert(text:find("\r\nset-cookie: a=1\r\nset-cookie: b=2\r\n", 1, true), text)
  assert(text:find("\r\nx-count: 3\r\n", 1, true), text)
  for _, headers in ipairs { { x = "a\r\nb: c" }, { x = "a\nb" }, { x = "a\0b" },
    { x = { "a", {} } }, { x = print }, { x = true }, { ["a b"] = "c" }, { ["a\r\nb"] = "c" },
    { [""] = "c" } } do
    answer = { 200, "ok", headers }
    is("500", get "/")
  end
  answer = { 99, "ok" }
  is("500", get "/")
  answer = { { status = 200, headers = { x = "a\nb" }, body = "ok" } }
  is("500", get "/")
  wrong_answers()
  is("200", (get("/"):gsub("close", "x, Close")))
end)
loop:run()
