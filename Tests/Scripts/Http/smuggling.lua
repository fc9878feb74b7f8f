-- Requests that two readers could understand differently are rejected, and nothing after them is
-- taken for a request. The cases are those of the literature on request smuggling.
local ml = require "moonloop"
local http = ml.http
local loop = ml.current()

local calls
local server = assert(http.serve { host = "127.0.0.1", port = 0, max_body = 100000,
  idle_timeout = 1, timeout = 1, on_error = function() end, function(request)
    calls[#calls + 1] = request.path
    return request.body
  end })

-- Sends bytes; returns the status of each response, and whether the server has closed.
local function ask(bytes)
  local stream <close> = assert(ml.net.connect { host = "127.0.0.1", port = server.port })
  calls = {}
  assert(stream:write(bytes))
  local text = stream:read("a", { timeout = 10 }) or ""
  local seen = {}
  for status in text:gmatch "HTTP/1.1 (%d+)" do seen[#seen + 1] = status end
  return table.concat(seen, " "), text
end

-- A smuggled request, which must never reach the handler.
local SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"

-- A POST with some fields and a body, and a request hidden behind it.
local function post(fields, text)
  return "POST /post HTTP/1.1\r\nHost: x\r\n" .. fields .. "\r\n" .. text .. SMUGGLED
end
local function chunked(text) return post("Transfer-Encoding: chunked\r\n", text) end
local function hidden(lines) return post(lines .. "\r\n", "0\r\n\r\n") end
local function encoded(value) return hidden("Transfer-Encoding: " .. value) end
local function head(text) return text .. "\r\nHost: x\r\n\r\n" .. SMUGGLED end
local function field(line) return head("GET / HTTP/1.1\r\n" .. line) end

local LONG = ("x"):rep(70000)

local cases = {
  -- Two lengths.
  { "CL.TE", "400", post("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n") },
  { "TE.CL", "400", hidden "Transfer-Encoding: chunked\r\nContent-Length: 4" },
  { "CL.CL, different", "400", post("Content-Length: 0\r\nContent-Length: 5\r\n", "") },
  { "CL.CL, the same", "400", post("Content-Length: 0\r\nContent-Length: 0\r\n", "") },
  { "a list of lengths", "400", post("Content-Length: 0, 0\r\n", "") },
  { "TE.TE", "501", hidden "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity" },
  { "TE.TE, chunked first", "501", encoded "chunked, identity" },
  { "TE twice", "501", encoded "chunked, chunked" },
  { "TE of HTTP/1.0", "400",
    "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" .. SMUGGLED },
  -- Names and values that one of two readers overlooks.
  { "TE, quoted", "501", encoded '"chunked"' },
  { "TE, other word", "501", encoded "xchunked" },
  { "TE, with a parameter", "501", encoded "chunked;x=y" },
  { "TE, vertical tab", "400", encoded "\11chunked" },
  { "TE, NUL", "400", encoded "chunked\0" },
  { "TE, space before the colon", "400", hidden "Transfer-Encoding : chunked" },
  { "TE, tab before the colon", "400", hidden "Transfer-Encoding\t: chunked" },
  { "TE, NUL in the name", "400", hidden "Transfer-\0Encoding: chunked" },
  { "TE, behind a carriage return", "400", hidden "X: y\rTransfer-Encoding: chunked" },
  { "TE, behind a line feed", "400", hidden "X: y\nTransfer-Encoding: chunked" },
  { "TE, folded", "400", hidden "Transfer-Encoding:\r\n chunked" },
  { "obs-fold", "400", field "X: y\r\n z" },
  { "obs-fold with a tab", "400", field "X: y\r\n\tContent-Length: 5" },
  { "a fold before the first field", "400", "GET / HTTP/1.1\r\n Host: x\r\n\r\n" .. SMUGGLED },
  { "no name", "400", field ": y" },
  { "no colon", "400", field "X" },
  { "a name with a space", "400", field "X Y: z" },
  { "a name with bytes above ASCII", "400", field "X\xc3\xa4: z" },
  { "NUL in a value", "400", field "X: a\0b" },
  { "DEL in a value", "400", field "X: a\127b" },
  -- Lengths that readers understand differently.
  { "+", "400", post("Content-Length: +0\r\n", "") },
  { "-", "400", post("Content-Length: -0\r\n", "") },
  { "hexadecimal", "400", post("Content-Length: 0x0\r\n", "") },
  { "exponent", "400", post("Content-Length: 0e0\r\n", "") },
  { "fraction", "400", post("Content-Length: 0.0\r\n", "") },
  { "space inside", "400", post("Content-Length: 0 0\r\n", "") },
  { "empty", "400", post("Content-Length:\r\n", "") },
  { "underscore", "400", post("Content-Length: 1_0\r\n", "") },
  { "beyond 64 bits", "400", post("Content-Length: 18446744073709551616\r\n", "") },
  { "beyond the limit", "413", post("Content-Length: 999999999999999\r\n", "") },
  -- Chunks.
  { "chunk size 0x", "400", chunked "0x0\r\n\r\n" },
  { "chunk size +", "400", chunked "+0\r\n\r\n" },
  { "chunk size -", "400", chunked "-1\r\n\r\n" },
  { "chunk size, space before", "400", chunked " 0\r\n\r\n" },
  { "chunk size, space behind", "400", chunked "0 \r\n\r\n" },
  { "no chunk size", "400", chunked "\r\n\r\n" },
  { "chunk size beyond 64 bits", "400", chunked "ffffffffffffffffff\r\n" },
  { "chunk size of 2^64", "400", chunked "10000000000000000\r\n" },
  { "chunk size beyond the limit", "413", chunked "fffffffff\r\n" },
  { "chunk size, line feed alone", "400", chunked "0\n\n" },
  { "chunk size, carriage return alone", "400", chunked "0\r\r\n\r\n" },
  { "chunk extension with a line feed", "400", chunked "0;a\nb\r\n\r\n" },
  { "chunk extension with a carriage return", "400", chunked "0;a\rb\r\n\r\n" },
  { "chunk extension with NUL", "400", chunked "0;a\0\r\n\r\n" },
  { "chunk extension without semicolon", "400", chunked "0 a\r\n\r\n" },
  { "long chunk extension", "413", chunked("0;" .. LONG .. "\r\n\r\n") },
  { "many chunk extensions", "413", chunked(("1;" .. ("x"):rep(1000) .. "\r\na\r\n"):rep(70)) },
  { "chunk longer than its size", "400", chunked "1\r\nab\r\n0\r\n\r\n" },
  { "chunk ended by a line feed", "400", chunked "1\r\na\n0\r\n\r\n" },
  { "chunk not ended", "400", chunked "1\r\na0\r\n\r\n" },
  { "trailer that is none", "400", chunked "0\r\nX Y: z\r\n\r\n" },
  { "folded trailer", "400", chunked "0\r\nX: y\r\n z\r\n\r\n" },
  { "long trailer", "431", chunked("0\r\nX: " .. LONG .. "\r\n\r\n"), "413" },
  -- Request lines.
  { "line feeds alone", "400", "GET / HTTP/1.1\nHost: x\n\n" .. SMUGGLED },
  { "a carriage return alone", "400", "GET / HTTP/1.1\rHost: x\r\n\r\n" .. SMUGGLED },
  { "two spaces", "400", head "GET  / HTTP/1.1" },
  { "a tab", "400", head "GET\t/ HTTP/1.1" },
  { "a space at the end", "400", head "GET / HTTP/1.1 " },
  { "a space at the start", "400", head " GET / HTTP/1.1" },
  { "a space in the target", "400", head "GET /a b HTTP/1.1" },
  { "no version", "400", "GET /\r\n\r\n" .. SMUGGLED },
  { "small letters", "400", head "get / HTTP/1.1" },
  { "another protocol", "400", head "GET / HTTPS/1.1" },
  { "version 1.10", "400", head "GET / HTTP/1.10" },
  { "version 0.9", "505", head "GET / HTTP/0.9" },
  { "version 2.0", "505", head "GET / HTTP/2.0" },
  { "the preface of HTTP/2", "400", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" .. SMUGGLED },
  { "NUL in the target", "400", head "GET /\0 HTTP/1.1" },
  { "two hosts", "400", field "Host: x" },
  { "a host with a path", "400", "GET / HTTP/1.1\r\nHost: x/y\r\n\r\n" .. SMUGGLED },
  { "no host", "400", "GET / HTTP/1.1\r\n\r\n" .. SMUGGLED },
  { "a long line", "431", head("GET /" .. LONG .. " HTTP/1.1") },
  { "many fields", "431", field(("X: y\r\n"):rep(20000) .. "Z: z") },
  { "another expectation", "417", post("Expect: 200-ok\r\nContent-Length: 0\r\n", "") },
}

-- Unusual but clear requests are understood, and so is the request after them.
local clear = {
  { "a length with spaces around", post("Content-Length: \t 1 \t\r\n", "a"), "a" },
  { "a length with zeros", post("Content-Length: 0001\r\n", "a"), "a" },
  { "chunks", chunked "1\r\na\r\n02\r\nbc\r\n0\r\n\r\n", "abc" },
  { "chunks in large letters",
    post("TRANSFER-ENCODING: Chunked\r\n", "A\r\n0123456789\r\n0\r\n\r\n"), "0123456789" },
  { "zeros before a size", chunked "00000001\r\na\r\n000\r\n\r\n", "a" },
  { "extensions", chunked "1;a=b;c=\"d\"\r\na\r\n1 ; x\r\nb\r\n0;last\r\n\r\n", "ab" },
  { "a trailer", chunked "1\r\na\r\n0\r\nX: y\r\nContent-Length: 5\r\n\r\n", "a" },
  { "an empty line before", "\r\n" .. post("Content-Length: 1\r\n", "a"), "a" },
}

loop:task(function()
  local closing <close> = server
  for _, case in ipairs(cases) do
    local what, expected, bytes, other = table.unpack(case)
    local status, text = ask(bytes)
    assert(status == expected or status == other, ("%s: %q, %s"):format(what, status, text))
    assert(#calls == 0, what .. ": the handler was called with " .. table.concat(calls, " "))
  end
  for _, case in ipairs(clear) do
    local what, bytes, expected = table.unpack(case)
    local status, text = ask(bytes)
    assert(status == "200 200", ("%s: %q, %s"):format(what, status, text))
    assert(text:find("\r\n\r\n" .. expected .. "HTTP/1.1 200", 1, true), text)
    assert(table.concat(calls, " ") == "/post /smuggled", what)
  end
end)
loop:run()
