-- However a head is cut into pieces, it is the same head; what is wrong in a line is answered as
-- soon as that has come.
local ml = require "moonloop"
local http = ml.http
local loop = ml.current()

local server = assert(http.serve { host = "127.0.0.1", port = 0, function(request)
  local headers = request.headers
  return table.concat({ request.method, request.path, request.query.a or "-", headers["X-LONG"],
    table.concat(headers["set-cookie"], "+"), headers.cookie, headers.empty,
    tostring(headers.other), request.body }, "|")
end })

local LONG = ("X"):rep(100)
local HEAD = "\r\nPOST /b?a=1 HTTP/1.1\r\nX-Long: 1\r\nHost: h:1\r\nset-cookie: a=1, b\r\n"
  .. "Cookie: c\r\nx-LONG:\t 2 \r\nempty:\r\nSet-Cookie: d\r\nCOOKIE: e\r\nContent-Length: 2\r\n"
  .. "Connection: close\r\n" .. LONG .. ": y\r\n\r\n"
local EXPECTED = "POST|/b|1|1, 2|a=1, b+d|c; e||nil|ok"

-- Sends two parts, the second later, and returns the answer.
local function ask(first, second)
  local stream <close> = assert(ml.net.connect { host = "127.0.0.1", port = server.port })
  assert(stream:write(first))
  if second then
    ml.sleep(1)
    assert(stream:write(second))
  end
  return stream:read("a", { timeout = 5 })
end

loop:task(function()
  local closing <close> = server
  for cut = 1, #HEAD do
    local text = ask(HEAD:sub(1, cut), HEAD:sub(cut + 1) .. "ok")
    assert(text and text:sub(-#EXPECTED) == EXPECTED, ("%d: %s"):format(cut, text))
  end
  for _, wrong in ipairs { "GET /\r\n", "GET / HTTP/1.1\r\nno colon\r\n",
    "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n", "GET / HTTP/1.1\r\nX: y\n" } do
    local text = ask(wrong)  -- and no more
    assert(text and text:find "^HTTP/1.1 400 ", text)
  end

  -- A server may cut its answer too, and end its lines with line feeds alone.
  for _, answer in ipairs { "HTTP/1.1 200 OK\r\nA: 1\r\na: 2\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 200 OK\nA: 1\na: 2\nContent-Length: 2\n\nok" } do
    for cut = 1, #answer - 1 do
      local other = assert(ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
        stream:read "h"
        stream:write(answer:sub(1, cut))
        ml.sleep(1)
        stream:write(answer:sub(cut + 1))
      end })
      local response = assert(http.get("http://127.0.0.1:" .. other.port .. "/"))
      assert(response.status == 200 and response.headers.A == "1, 2" and response.body == "ok")
      other:invalidate()
    end
  end
end)
loop:run()
