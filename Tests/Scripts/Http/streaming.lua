-- Bodies in parts, both ways, with back-pressure; "100 Continue"; numbers and functions as bodies.
local ml = require "moonloop"
local http = ml.http
local loop = ml.current()

local PART = ("x"):rep(100000)

-- A function that produces this many parts, and counts them.
local function source(count, given)
  return function()
    if given[1] == count then return nil end
    given[1] = given[1] + 1
    return PART
  end
end

local function serve(options)
  options.host, options.port = "127.0.0.1", 0
  local server = assert(http.serve(options))
  return server, "http://127.0.0.1:" .. server.port
end

-- A download that the client reads slowly: the server waits for it.
local function download()
  local given = { 0 }
  local server <close>, base = serve { function() return { body = source(200, given) } end }
  local response <close> = assert(http.get(base .. "/", { stream = true, max_body = 1 << 30 }))
  assert(not response.body and response.headers["transfer-encoding"] == "chunked")
  ml.sleep(1)
  assert(given[1] < 180, "the server has sent all: " .. given[1])
  local size = 0
  for part in function() return response:read() end do size = size + #part end
  assert(size == 200 * #PART and given[1] == 200 and response:read() == nil)
  -- What is not held has no limit, unless one is given.
  for limit, expected in pairs { [false] = 200, [1 << 20] = 10 } do
    given[1] = 0
    local long <close> = assert(http.get(base .. "/", { stream = true, max_body = limit or nil }))
    size = 0
    for part in function() return long:read() end do size = size + #part end
    assert(size == expected * #PART, size)
  end
  given[1] = 0
  -- Unread parts are given up.
  local other = assert(http.get(base .. "/", { stream = true }))
  other:close()
  assert(other:read() == nil)
end

-- A handler that reads a body which was read for it gets an error that says so.
local function read_already()
  local server <close>, base = serve { function(request)
    local ok, message = pcall(request.read, request)
    return { body = tostring(ok) .. " " .. message }
  end }
  local response = assert(http.post(base .. "/", "text"))
  assert(response.body:find "^false request:read: the body was read already: it is request.body "
    and response.body:find "; or serve with stream_bodies = true$", response.body)
end

-- An upload that the handler reads slowly, into a limit, or not at all.
local function upload()
  local given, size = { 0 }, nil
  local server <close>, base = serve { stream_bodies = true, max_body = 1 << 30,
    function(request)
      if request.path == "/no" then return 403 end
      size = 0
      ml.sleep(1)
      assert(given[1] < 180, "the client has sent all: " .. given[1])
      while true do
        local part, problem, code = request:read()
        if not part then
          assert(not problem, code)
          break
        end
        size = size + #part
      end
      return 200, size
    end }
  local response = assert(http.post(base .. "/", source(200, given)))
  assert(size == 200 * #PART and response.body == tostring(size))
  local client <close> = http.client()
  assert(client:post(base .. "/no", "small").status == 403)
  assert(client:post(base .. "/no", ("x"):rep(1 << 20)).status == 403)
  assert(client:get(base .. "/no").status == 403)
  local small <close>, other = serve { stream_bodies = true, max_body = 10,
    function(request)
      while request:read() do end
      return "read"
    end }
  assert(http.post(other .. "/", "0123456789").body == "read")
  assert(http.post(other .. "/", "0123456789x").status == 413)
end

-- A request without a body has none to read, whichever way its head was read.
local function no_body()
  local server <close> = serve { stream_bodies = true, half_close = true, function(request)
    local part, problem = request:read()
    return ("%s %s %s"):format(part, problem, request:read())
  end }
  for _, host in ipairs { "x", "example.org:8080", "127.0.0.1:54321", "[::1]:1" } do
    local stream <close> = assert(ml.net.connect { host = "127.0.0.1", port = server.port })
    stream:write("GET / HTTP/1.1\r\nHost: ", host, "\r\n\r\n")
    stream:shutdown()
    local text = stream:read "a"
    assert(text:find "^HTTP/1.1 200 " and text:find "\r\n\r\nnil nil nil$", text)
  end
end

-- The body is asked for when it is read, not before, and not if it is too large or unwanted.
local function continue()
  local server <close>, base = serve { stream_bodies = true, max_body = 10, idle_timeout = 0.1,
    function(request)
      if request.path == "/no" then return 401 end
      local read = {}
      for part in function() return request:read() end do read[#read + 1] = part end
      return table.concat(read)
    end }
  local function ask(path, length, body)
    local stream <close> = assert(ml.net.connect { host = "127.0.0.1", port = server.port })
    stream:write(("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n"):format(path, length),
      "Expect: 100-continue\r\n\r\n")
    local first = stream:read "l"
    if first:find "100" then stream:write(body) end
    return first, stream:read "a"
  end
  local first, rest = ask("/", 5, "hello")
  assert(first == "HTTP/1.1 100 Continue\r", first)
  assert(rest:find "^\r\nHTTP/1.1 200 OK\r\n" and rest:find "hello", rest)
  first, rest = ask("/no", 5)
  assert(first == "HTTP/1.1 401 Unauthorized\r" and rest:find "connection: close", first)
  assert(ask("/", 11) == "HTTP/1.1 413 Content Too Large\r")
  local expecting = { headers = { expect = "100-continue" } }
  assert(http.post(base .. "/", "hello", expecting).body == "hello")
  assert(http.post(base .. "/no", "hello", expecting).status == 401)
  -- Whole bodies are asked for at once.
  local whole <close>, other = serve { max_body = 10, function(request) return request.body end }
  assert(http.post(other .. "/", "hello", expecting).body == "hello")
  assert(http.post(other .. "/", "hello and more", expecting).status == 413)
end

local function fields()
  local refused
  local odd <close>, there = serve { function(request)
    refused = select(2, pcall(function() return request.pth end))
    assert(request.failure == nil and request.body == "x")
    request.user = "ada"
    return request.user
  end }
  assert(http.post(there .. "/", "x").body == "ada")
  assert(refused:find "^request: unknown field 'pth' %(.*%); did you mean 'path'%?", refused)
  -- Nor is one written for another, nor what the request is; a handler's own are kept.
  for _, case in ipairs {
    { "methd", "request: unknown field 'methd'; did you mean 'method'?" },
    { "method", "request.method: cannot be set" },
    { "body", "request.body: cannot be set" },
    { "query", "request.query: cannot be set" },
    { "read", "request.read: cannot be set" },
  } do
    local strict <close>, here = serve { function(request)
      request.session, request.user = 7, request.method
      local names = {}
      for name in pairs(request) do names[#names + 1] = name end
      table.sort(names)
      assert(table.concat(names, " ")
        == "body headers method path peer query query_text session stream target user version")
      assert(tostring(request) == "request GET /")
      local _, said = pcall(function() request[case[1]] = "x" end)
      return said .. request.session .. request.user
    end }
    local said = http.get(here .. "/").body:gsub(" %(.*%)", "")
    assert(said == case[2] .. "7GET", said)
  end
  -- What a handler asks of its response, or sets in it, is an error if there is no such thing.
  local strange
  local strict <close>, here = serve { function(_, response)
    return select(2, pcall(strange, response))
  end }
  for _, case in ipairs {
    { function(response) response.status = 404 end,
      "^response: unknown field 'status'; the handler returns it: return status, body, headers$" },
    { function(response) response.headers = {} end, "^response: unknown field 'headers'; the h" },
    { function(response) response.statuss = 404 end,
      "^response: unknown field 'statuss'; the handler returns 'status': return status, body" },
    { function(response) response.stream = 1 end,
      "^response: unknown field 'stream'; its methods are event, send, start, upgrade$" },
    { function(response) response.is_started = true end, "^response: unknown field 'is_started'" },
    { function(response) response.send = print end, "^response.send: cannot be set$" },
    { function(response) response.send("x") end, "^response:send: must be called with a colon" },
    { function(response) response:finish() end,
      "^response: unknown field 'finish'; its methods are event, send, start, upgrade$" },
    { function(response) response:sed "x" end,
      "^response: unknown field 'sed'; did you mean 'send'%?$" },
  } do
    strange = case[1]
    local said = http.get(here .. "/").body:gsub(" %(.*%)", "")
    assert(said:find(case[2]), said)
  end
end

local function bodies()
  local answer
  local server <close>, base = serve { on_error = function() end,
    function() return table.unpack(answer, 1, 2) end }
  for _, case in ipairs { { { 200, 42 }, "42" }, { { { body = 42 } }, "42" },
    { { 201, 0.25 }, "0.25" }, { { "text" }, "text" },
    { { ("text"):gsub("x", "s") }, "test" }, { { { status = 200 } }, "" } } do
    answer = case[1]
    local response = http.get(base .. "/")
    assert(response.body == case[2], response.body)
  end
  local problems = {}
  server.on_error = function(problem)
    problems[#problems + 1] = problem.message
    return "continue"
  end
  for _, case in ipairs {
    { { { staus = 200 } }, "a response has no field 'staus'; did you mean 'status'?" },
    { { { bdy = "x" } }, "a response has no field 'bdy'; did you mean 'body'?" },
    { { { wrong = 1 } }, "its fields are body, file, headers, status" },
    { { { body = {} } }, "a body must be a string, a number or a function, got a table" },
    { { { headers = "x" } }, "the headers must be a table, got \"x\"" },
    { { { file = 1 } }, "'file' of a response must be a path" },
    { { "none", 404 }, "the status comes first: return 404, \"no such page\"" },
    { { "200", "x" }, "a body is returned alone or after a status: return 200, body, headers" },
    { { "text", { ["x-a"] = "b" } }, "got a table after a body" },
    { { nil, "no database" }, "ml.http.serve: GET /: the handler failed: no database" },
    { { 42 }, "a number alone is a status, got 42; as a body it comes second: return 200, 42" },
    { { 0.5 }, "a number alone is a status, got 0.5; as a body it comes second" },
    { { true }, "a handler must return a body, a status or a table, got true" },
  } do
    answer, problems = case[1], {}
    assert(http.get(base .. "/").status == 500)
    while #problems == 0 do ml.sleep(0.01) end
    assert(problems[1]:find(case[2], 1, true), problems[1])
  end
  assert(http.post(base .. "/", 42, {}))
end

local function wrong_size()
  local server, base = serve { function() return "text" end }
  local response <close> = assert(http.get(base .. "/", { stream = true }))
  for _, most in ipairs { "a", 0, 1.5 } do
    local ok, problem = pcall(response.read, response, most)
    local told = "response:read: takes the maximum number of bytes, got"
    assert(not ok and problem:find(told, 1, true), problem)
  end
  assert(response:read(2) == "te")
  server:invalidate()
end

loop:task(function()
  wrong_size()
  download()
  upload()
  no_body()
  continue()
  fields()
  bodies()
end)
loop:run()
