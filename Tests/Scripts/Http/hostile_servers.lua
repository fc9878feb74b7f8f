-- A client among hostile servers: no answer is taken for another, no socket of this machine is
-- reached, and exactly one request goes out.
local ml = require "moonloop"
local http = ml.http
local loop = ml.current()

-- A server that records each request and answers with what a function returns.
local function serve(answer)
  local heads = {}
  local server = assert(ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
    while true do
      local lines = {}
      repeat
        local line = stream:read "L"
        if not line then return end
        lines[#lines + 1] = line
      until line == "\r\n"
      heads[#heads + 1] = table.concat(lines)
      stream:write(answer(#heads))
    end
  end })
  return server, "http://127.0.0.1:" .. server.port, heads
end

local ONE = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"

loop:task(function()
  -- Two responses to one request.
  do
    local server <close>, url = serve(function(number)
      return number == 1 and ONE .. "a" .. ONE .. "E" or ONE .. "b"
    end)
    local client <close> = http.client { timeout = 5 }
    assert(client:get(url).body == "a" and client:get(url).body == "b")
  end

  -- Only the caller can choose a Unix socket, not a redirect.
  do
    local server <close>, url = serve(function()
      return "HTTP/1.1 302 Found\r\nLocation: http+unix://%2Frun%2Fx.sock/\r\n"
        .. "Content-Length: 0\r\n\r\n"
    end)
    local response = assert(http.get(url, { timeout = 5 }))
    assert(response.status == 302 and response.url == url)
  end

  -- A redirect to no address is returned as it is; the caller can see it.
  do
    local location
    local server <close>, url = serve(function()
      return "HTTP/1.1 302 Found\r\nLocation: " .. location .. "\r\nContent-Length: 0\r\n\r\n"
    end)
    for _, wrong in ipairs { "http://127.0.0.1:0/", "http://" .. ("a"):rep(254) .. "/",
      "http://a b/", "http://a\tb/", "http+unix:///", "http://[::1%lo]:80/" } do
      location = wrong
      local response, message = http.get(url, { timeout = 5 })
      assert(response and response.status == 302, message)
      assert(select(3, http.get(wrong)) == "EINVAL", wrong)
    end
    for _, wrong in ipairs { "http://a\0b/", "http+unix://a%00b/",
      "http+unix://" .. ("a"):rep(108) .. "/" } do
      assert(select(3, http.get(wrong)) == "EINVAL", wrong)
    end
  end

  -- The caller's headers do not decide where the body ends.
  do
    local server <close>, url, heads = serve(function() return ONE .. "a" end)
    local headers = { ["Transfer-Encoding"] = "chunked", ["Content-Length"] = 7 }
    assert(http.get(url, { headers = headers, timeout = 5 }).body == "a")
    assert(http.post(url, "", { headers = headers, timeout = 5 }).body == "a")
    assert(not heads[1]:lower():find "transfer%-encoding" and not heads[1]:find "Length", heads[1])
    assert(not heads[2]:lower():find "transfer%-encoding", heads[2])
    assert(heads[2]:lower():find "content%-length: 0\r", heads[2])
  end

  for _, line in ipairs { "HTTP/1.1 99999 x", "HTTP/1.1 000 x", "HTTP/1.1 20", "HTTP/1.1 2000" } do
    local server <close>, url = serve(function() return line .. "\r\n\r\n" end)
    local response, _, code = http.get(url, { timeout = 5 })
    assert(response == nil and code == "EBADMSG", line)
  end
end)
loop:run()
