-- What comes after an answer, or instead of one: nothing of it gets into the next answer, and no
-- request is made twice that must not be.
local ml = require "moonloop"
local http = ml.http
local loop = ml.current()

local function serve(options)
  options.host, options.port = "127.0.0.1", 0
  local server = assert(http.serve(options))
  return server, "http://127.0.0.1:" .. server.port
end

-- A handler that keeps its response and uses it later gets an error, whatever the answer was.
local function late()
  local kept
  local answers = {
    ["/parts"] = function(response) response:send "a" end,
    ["/text"] = function() return "a" end,
    ["/status"] = function() return 204 end,
    ["/length"] = function(response)
      response:start(200, { ["content-length"] = 1 })
      response:send "a"
    end,
  }
  local server <close>, base = serve { function(request, response)
    if answers[request.path] then
      kept = response
      return answers[request.path](response)
    end
    return tostring(select(2, pcall(kept.send, kept, "HTTP/1.1 200 OK\r\n\r\n")))
      .. tostring(select(2, pcall(kept.event, kept, "x")))
  end }
  local client <close> = http.client {}
  local ended = "response:send: the answer has ended, as its handler has returned or upgraded it"
  for path in pairs(answers) do
    assert(client:get(base .. path).status // 100 == 2)
    local said = client:get(base .. "/late").body:gsub(" %(.-%)", "")
    assert(said == ended .. ended, said)
  end
end

-- A server that answers the first request of a connection, and closes at the second, which it has
-- seen. `between` is what it sends before that.
-- @return the heads that came, and the status or code that the client got
local function close_at_second(method, between, options)
  local seen = {}
  local server <close> = assert(ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
    for _ = 1, 2 do
      local line = stream:read "l"
      if not line then return end
      local length = 0
      for field in stream:lines() do
        if field == "\r" then break end
        length = tonumber(field:lower():match "^content%-length: (%d+)") or length
      end
      seen[#seen + 1] = line:match "^%S+ %S+"
      if line:find "/second" and #seen == 2 then
        stream:write(between)
        return
      end
      stream:write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
      stream:read(length)
    end
  end })
  local base = "http://127.0.0.1:" .. server.port
  local client <close> = http.client {}
  assert(client:get(base .. "/first").status == 200)
  local asked = { method = method, url = base .. "/second" }
  for name, value in pairs(options or {}) do asked[name] = value end
  local answer, _, code = client:request(asked)
  return table.concat(seen, ", "), answer and answer.status or code
end

local function repeats()
  for _, method in ipairs { "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE" } do
    local seen, got = close_at_second(method, "")
    assert(seen == ("GET /first, %s /second, %s /second"):format(method, method) and got == 200,
      seen)
  end
  for _, method in ipairs { "POST", "PATCH", "LOCK", "CHARGE" } do
    local seen, got = close_at_second(method, "")
    assert(seen == ("GET /first, %s /second"):format(method) and got == "ECONNRESET", seen)
  end
  -- The server has said that it has seen the request.
  for _, said in ipairs { "100 Continue", "103 Early Hints" } do
    local between = ("HTTP/1.1 %s\r\n\r\n"):format(said)
    for _, options in ipairs { { body = "x" }, { body = ("x"):rep(100000) },
      { body = "x", headers = { expect = "100-continue" } } } do
      local seen, got = close_at_second("PUT", between, options)
      assert(seen == "GET /first, PUT /second" and type(got) == "string", seen)
    end
  end
end

-- What a handler returns is what it says.
local function mistakes()
  local answer, problem
  local server <close>, base = serve { stream_bodies = true, on_error = function(reported)
    problem = reported.message
    return "continue"
  end, function(_, response)
    if type(answer) == "function" then return answer(response) end
    return answer[1], answer[2], answer[3]
  end }
  local function parts(part)
    local given = false
    return { 200, function()
      if given then return nil end
      given = true
      return part
    end }
  end
  for _, case in ipairs {
    { parts {}, "a part of a body must be a string or a number, got a table" },
    { parts(true), "a part of a body must be a string or a number, got true" },
    { { 200, "b", { ["content-length"] = 5 } }, "1 bytes, and 'content-length' says 5" },
    { { { file = "/etc/hostname\0x" } }, "cannot be sent: Invalid argument" },
    { function(response) response:upgrade "echo" end,
      "response:upgrade: the request has a body; read it before, with request:read" },
  } do
    answer, problem = case[1], nil
    http.post(base .. "/", "x", { upgrade = "echo" })
    assert(problem and problem:find(case[2], 1, true), tostring(problem))
  end
  answer = { 200, "", { ["content-length"] = 500 } }
  assert(http.head(base .. "/").headers["content-length"] == "500")
end

loop:task(function()
  late()
  repeats()
  mistakes()
end)
loop:run()
