-- Fields in both directions: lists, Set-Cookie, Date; upgrades, redirects and server-sent events.
local ml = require "moonloop"
local http = ml.http
local loop = ml.current()

local function serve(handler, options)
  options = options or {}
  options.host, options.port, options[1] = "127.0.0.1", 0, handler
  local server = assert(http.serve(options))
  return server, "http://127.0.0.1:" .. server.port
end

local function fields()
  local seen
  local server <close>, base = serve(function(request)
    seen = request.headers
    return { body = "", headers = { ["Set-Cookie"] = { "a=1; Expires=Wed, 09 Jun 2100 10:18:14 GMT",
      "b=2" }, ["X-List"] = { "a", "b" }, Vary = "x" } }
  end)
  local response = assert(http.get(base .. "/", {
    headers = { ["Set-Cookie"] = { "c=3", "d=4" }, Cookie = { "e=5", "f=6" }, ["X-Count"] = 7 } }))
  local cookies = response.headers["SET-cookie"]
  assert(#cookies == 2 and cookies[1]:find "^a=1; Expires=Wed, 09" and cookies[2] == "b=2")
  assert(response.headers["x-list"] == "a, b" and response.headers.vary == "x")
  assert(seen["set-cookie"][1] == "c=3" and seen["set-cookie"][2] == "d=4")
  assert(seen.cookie == "e=5; f=6" and seen["x-count"] == "7")
  -- The date comes from the loop's clock.
  local date = response.headers.date
  assert(date:find "^%a%a%a, %d%d %a%a%a %d%d%d%d %d%d:%d%d:%d%d GMT$", date)
  assert(math.abs(os.time() - os.time()) < 2)
  ml.sleep(3600)
  assert(http.get(base .. "/").headers.date ~= date)
end

local function redirects()
  local trace = {}
  local answers = {
    ["/relative"] = { 302, "next?x=1" }, ["/next"] = { 301, "/done" }, ["/loop"] = { 302, "/loop" },
    ["/post"] = { 303, "/done" }, ["/keep"] = { 307, "/done" }, ["/found"] = { 302, "/done" },
    ["/bad"] = { 302, "gopher://x/" },
  }
  local other <close>, elsewhere = serve(function(request)
    return (request.headers.authorization or "none") .. " " .. (request.headers["x-own"] or "none")
  end)
  answers["/away"] = { 302, elsewhere .. "/" }
  local server <close>, base = serve(function(request)
    trace[#trace + 1] = request.method .. " " .. request.target .. " " .. request.body
    local answer = answers[request.path]
    if answer then return answer[1], "moved", { location = answer[2] } end
    return "done"
  end)
  local function follow(expected, method, path, options)
    trace = {}
    options = options or {}
    options.url, options.method = base .. path, method
    local response = assert(http.request(options))
    assert(table.concat(trace, ", ") == expected, table.concat(trace, ", "))
    return response
  end
  local response = follow("GET /relative , GET /next?x=1 , GET /done ", "GET", "/relative")
  assert(response.status == 200 and response.url == base .. "/done", response.url)
  follow("POST /post x, GET /done ", "POST", "/post", { body = "x" })
  follow("POST /found x, GET /done ", "POST", "/found", { body = "x" })
  follow("POST /keep x, POST /done x", "POST", "/keep", { body = "x" })
  follow("PUT /found x, PUT /done x", "PUT", "/found", { body = "x" })
  assert(follow("GET /relative ", "GET", "/relative", { redirects = 0 }).status == 302)
  response = follow("GET /loop , GET /loop , GET /loop ", "GET", "/loop", { redirects = 2 })
  assert(response.status == 302)
  assert(follow("GET /bad ", "GET", "/bad").status == 302)
  local secrets = { authorization = "secret", ["x-own"] = "own" }
  assert(http.get(base .. "/away", { headers = secrets }).body == "none own")
  assert(http.get(elsewhere .. "/", { headers = secrets }).body == "secret own")
  local once = { function() return table.remove(secrets) end }
  assert(http.post(base .. "/keep", once[1]).status == 307)
end

local function events()
  local server <close>, base = serve(function(_, response)
    response:event "one"
    response:event { data = "two\nlines", event = "kind", id = 7, retry = 2.5 }
    response:event { data = "", id = 8 }
    response:event { data = 3 }
    local ok, message = pcall(response.event, response, { event = "a\nb" })
    assert(not ok and message:find "must be one line", message)
  end)
  local response <close> = assert(http.get(base .. "/", { stream = true }))
  assert(response.headers["content-type"] == "text/event-stream")
  local seen = {}
  for event in response:events() do
    seen[#seen + 1] = ("%q %s %s %s"):format(event.data, event.event, event.id, event.retry)
  end
  assert(table.concat(seen, "; ") == '"one" nil nil nil; "two\\\nlines" kind 7 2.5; '
    .. '"" nil 8 nil; "3" nil 8 nil', table.concat(seen, "; "))
end

local function upgrade()
  local server <close>, base = serve(function(request, response)
    if request.headers.upgrade ~= "echo" then return 426, "", { upgrade = "echo" } end
    local stream = response:upgrade("echo", { ["x-more"] = "yes" })
    for line in stream:lines() do stream:write(line:upper(), "\n") end
  end, { timeout = 1 })
  local response = assert(http.get(base .. "/", { upgrade = "echo" }))
  assert(response.status == 101 and response.headers["x-more"] == "yes")
  local stream <close> = response.stream
  stream:write "hello\n"
  assert(stream:read "l" == "HELLO")
  ml.sleep(5)
  stream:write "again\n"
  assert(stream:read "l" == "AGAIN")
  assert(http.get(base .. "/").status == 426)
  -- The client has not asked for an upgrade, or for another one; a server that does not mind.
  local refused
  local strict <close>, other = serve(function(_, answer)
    refused = table.concat({ select(2, answer:upgrade "echo") }, " ")
  end)
  for _, asked in ipairs { false, "chat" } do
    local answer = http.get(other .. "/", { upgrade = asked or nil })
    assert(answer.status == 426 and answer.headers.upgrade == "echo", answer.status)
    assert(refused == "the client has not asked for 'echo' EPROTO", refused)
  end
  local rude <close> = assert(ml.net.listen { host = "127.0.0.1", port = 0, function(connection)
    while connection:read "l" ~= "\r" do end
    connection:write "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\n\r\n"
  end })
  local none, _, code = http.get(("http://127.0.0.1:%d/"):format(rude.port))
  assert(none == nil and code == "EBADMSG")
end

loop:task(function()
  fields()
  redirects()
  events()
  upgrade()
end)
loop:run()
