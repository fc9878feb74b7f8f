-- What a handler says of its response and what it sends agree, or the connection is cut: the next
-- response is never taken for the rest of this one.
local ml = require "moonloop"
local http = ml.http
local loop = ml.current()

local reported = {}
local function note(problem)
  reported[#reported + 1] = problem.message:gsub(" %(.*", "")
  if problem.traceback:find "(\n\t[^\n]+)%1" then
    reported[#reported] = "twice in a row: " .. problem.traceback
  end
  return "continue"
end

-- A body of these parts, then these values.
local function parts(list, ...)
  local place, ending = 0, table.pack(...)
  return function()
    place = place + 1
    if list[place] then return list[place] end
    return table.unpack(ending, 1, ending.n)
  end
end

local OK <const> = "HTTP/1.1 200 OK\r\n"
local KEPT <const> = "connection: keep-alive\r\n"
local CHUNKED <const> = "transfer-encoding: chunked\r\n\r\n"
local FAILED <const> = "HTTP/1.1 500 Internal Server Error\r\nconnection: close\r\n"
  .. "content-length: 22\r\ncontent-type: text/plain; charset=utf-8\r\n\r\ninternal server error\n"

-- What a handler does, what then comes besides the date, and what is reported; after that comes the
-- second response, or else the connection is closed.
local CASES = {
  failing_source = { function() return 200, parts({ "ab" }, nil, "disk failed", "EIO") end,
    OK .. KEPT .. CHUNKED .. "2\r\nab\r\n", "GET /: the body failed: disk failed" },
  short = { function(_, response)
    response:start(200, { ["content-length"] = 10 })
    response:send "hello"
  end, OK .. KEPT .. "content-length: 10\r\n\r\nhello",
    "GET /: the body is 5 bytes shorter than 'content-length'" },
  over = { function(_, response)
    response:start(200, { ["content-length"] = "2" })
    response:send "hello"
  end, OK .. KEPT .. "content-length: 2\r\n\r\n",
    "response:send: the body is 3 bytes longer than 'content-length'" },
  right = { function(_, response)
    response:start(200, { ["content-length"] = "5" })
    response:send("hel", "lo")
  end, OK .. KEPT .. "content-length: 5\r\n\r\nhello", nil, true },
  short_source = { function()
    return 200, parts { "ab" }, { ["content-length"] = "3" }
  end, OK .. KEPT .. "content-length: 3\r\n\r\nab",
    "GET /: the body is 1 bytes shorter than 'content-length'" },
  source = { function() return 200, parts { 1, "b" }, { ["content-length"] = "2" } end,
    OK .. KEPT .. "content-length: 2\r\n\r\n1b", nil, true },
  both = { function(_, response)
    response:start(200, { ["content-length"] = 5, ["Transfer-Encoding"] = "chunked" })
    response:send "hello"
  end, OK .. KEPT .. "content-length: 5\r\n\r\nhello", nil, true },
  other_encoding = { function(_, response)
    response:start(200, { ["transfer-encoding"] = "gzip" })
  end, OK .. KEPT .. CHUNKED .. "0\r\n\r\n", nil, true },
  none_204 = { function(_, response) response:start(204, { ["content-length"] = 3 }) end,
    "HTTP/1.1 204 No Content\r\n" .. KEPT .. "\r\n", nil, true },
  sent_304 = { function(_, response)
    response:start(304)
    response:send "dropped"
  end, "HTTP/1.1 304 Not Modified\r\n" .. KEPT .. "\r\n", nil, true },
  source_204 = { function() return 204, parts { "x" } end,
    "HTTP/1.1 204 No Content\r\n" .. KEPT .. "\r\n", nil, true },
  text_204 = { function() return 204, "", { ["transfer-encoding"] = "chunked" } end,
    "HTTP/1.1 204 No Content\r\n" .. KEPT .. "\r\n", nil, true },
  body_204 = { function() return 204, "lost" end, FAILED,
    "GET /: a response with the status 204 has no body, got \"lost\"; return 204 alone" },
  body_304 = { function() return { status = 304, body = "lost" } end, FAILED,
    "GET /: a response with the status 304 has no body, got \"lost\"; return 304 alone" },
  closing = { function() return 200, "x", { connection = "Close" } end,
    OK .. "connection: Close\r\ncontent-length: 1\r\n"
      .. "content-type: text/plain; charset=utf-8\r\n\r\nx" },
  returned_after_sent = { function(_, response)
    response:send "a"
    return "b"
  end, OK .. KEPT .. CHUNKED .. "1\r\na\r\n",
    "GET /: a body was returned after the response was started; send it with response:send" },
  failed_after_sent = { function(_, response)
    response:send "a"
    return nil, "no database"
  end, OK .. KEPT .. CHUNKED .. "1\r\na\r\n", "GET /: the handler failed: no database" },
  sent_and_returned = { function(_, response) return response:send "a" end,
    OK .. KEPT .. CHUNKED .. "1\r\na\r\n0\r\n\r\n", nil, true },
}
for place, length in ipairs { "abc", -1, 1.5, { 5, 6 }, { 5 }, "5, 5", "" } do
  CASES["wrong_length_" .. place] = { function(_, response)
    response:start(200, { ["content-length"] = length })
  end, FAILED,
    "response:start: the header 'content-length' must be one whole number of bytes" }
end
CASES.gap = { function() return 200, "x", { ["set-cookie"] = { "a", nil, "c" } } end, FAILED,
  "GET /: the header 'set-cookie' must be a string, a number or a list of them, "
    .. "got a list with gaps" }

local SECOND = OK .. "connection: close\r\ncontent-length: 6\r\n"
  .. "content-type: text/plain; charset=utf-8\r\n\r\nsecond"

local handler
local server = assert(http.serve { host = "127.0.0.1", port = 0, on_error = note,
  function(request, response)
    if request.path == "/second" then return "second" end
    return handler(request, response)
  end })

loop:task(function()
  local closing <close> = server
  local names = {}
  for name in pairs(CASES) do names[#names + 1] = name end
  table.sort(names)
  -- Both ways to read a head: one of these hosts is plain.
  for place = 1, #names * 2 do
    local name = names[(place + 1) // 2]
    local host = place % 2 == 0 and "x" or "127.0.0.1:54321"
    local expected, problem, is_kept
    handler, expected, problem, is_kept = table.unpack(CASES[name], 1, 4)
    reported = {}
    local stream <close> = assert(ml.net.connect { host = "127.0.0.1", port = server.port })
    stream:write(("GET / HTTP/1.1\r\nHost: %s\r\n\r\n"):format(host),
      "GET /second HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    local got = {}
    for part in function() return stream:read_some() end do got[#got + 1] = part end
    local text = table.concat(got):gsub("date: [^\r]*\r\n", "")
    expected = expected .. (is_kept and SECOND or "")
    assert(text == expected, ("%s: %q\nexpected %q"):format(name, text, expected))
    while #reported == 0 and problem do ml.sleep(0.01) end
    local said = (reported[1] or ""):gsub("^ml%.http%.serve: ", "")
    assert(problem and said:find(problem, 1, true) == 1 or not problem and #reported == 0,
      name .. ": " .. said)
  end
end)
loop:run()
