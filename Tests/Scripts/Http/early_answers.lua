-- A client that sends a body sees what the server says meanwhile: a refusal ends the sending.
local ml = require "moonloop"
local http = ml.http
local loop = ml.current()

local REFUSED = "HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\nno"

-- A server on a Unix socket, which reads a head and does something then; and a client's address.
local path = os.tmpname()
local function serve(answer)
  os.remove(path)
  local server = assert(ml.net.listen { path = path, function(stream)
    stream:read "h"
    answer(stream)
  end })
  return server, "http+unix://" .. path:gsub("/", "%%2F") .. "/"
end

local function many(count)
  return function()
    count = count - 1
    return count >= 0 and ("x"):rep(100000) or nil
  end
end

-- A refusal that closes the connection, or leaves it open and reads nothing.
local function refused()
  for _, ending in ipairs { "close", "invalidate", "stay" } do
    for _, body in ipairs { ("x"):rep(5000000), many(50), "short" } do
      local server <close>, url = serve(function(stream)
        stream:write(REFUSED)
        if ending == "stay" then ml.sleep(3600) else stream[ending](stream) end
      end)
      local client <close> = http.client { timeout = 5 }
      local response, message = client:post(url, body)
      assert(response and response.status == 401 and response.body == "no",
        ("%s, %s: %s"):format(ending, type(body), message))
    end
  end
end

-- Our own server refuses a body that is too large, and its client sees it.
local function too_large()
  local server <close> = assert(http.serve { host = "127.0.0.1", port = 0, max_body = 1000,
    function() return "ok" end })
  local url = "http://127.0.0.1:" .. server.port .. "/"
  for _, body in ipairs { ("x"):rep(5000000), many(50) } do
    local response, message = http.post(url, body, { timeout = 5 })
    assert(response and response.status == 413, message)
  end
end

-- A server that begins its answer and reads on gets the whole body.
local function both_ways()
  local read
  local server <close>, url = serve(function(stream)
    stream:write "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
    read = #stream:read(5000000)
    stream:write "ok"
  end)
  local response = assert(http.post(url, ("x"):rep(5000000), { timeout = 5 }))
  assert(response.body == "ok" and read == 5000000)
end

-- A body that fails is no whole body, whatever the server says.
local function failing()
  local text
  local server <close>, url = serve(function(stream) text = stream:read "a" end)
  local function source()
    if text == nil then
      text = ""
      return "half"
    end
    return nil, "disk failed", "EIO"
  end
  local response, message, code = http.post(url, source, { timeout = 5 })
  assert(response == nil and code == "EIO" and message:find "disk failed", message)
  ml.sleep(0.1)
  assert(text == "4\r\nhalf\r\n", text)
  local ok, problem = pcall(http.post, url, function() error("no luck", 0) end, { timeout = 5 })
  assert(not ok and problem == "no luck", problem)
  for _, count in ipairs { 1, 3 } do
    response, message, code = http.post(url, many(count),
      { timeout = 5, headers = { ["content-length"] = 200000 } })
    assert(response == nil and code == "EMSGSIZE" and message:find "'content%-length'", message)
  end
end

-- Other interim answers may come before the one that asks for the body.
local function interim()
  local server <close>, url = serve(function(stream)
    stream:write "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
    ml.sleep(0.1)
    stream:write "HTTP/1.1 100 Continue\r\n\r\n"
    local body = stream:read(5)
    stream:write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", body)
  end)
  local expecting = { timeout = 5, headers = { expect = "100-continue" } }
  local response, message = http.post(url, "hello", expecting)
  assert(response and response.body == "hello", message)
end

loop:task(function()
  refused()
  too_large()
  both_ways()
  failing()
  interim()
  os.remove(path)
end)
loop:run()
