-- A client and a server of ours: bodies, queries, chunked streams, persistent connections.
local ml = require "moonloop"
local http = ml.http
local loop = ml.current()

local connections, seen = {}, {}
local server = assert(http.serve { host = "127.0.0.1", port = 0, function(request, response)
  connections[request.stream] = true
  seen[#seen + 1] = request.method .. " " .. request.path
  if request.path == "/echo" then
    local kind = request.headers["X-type"]
    return { status = 201, body = request.body, headers = { ["X-Type"] = kind } }
  elseif request.path == "/stream" then
    response:start(200, { ["content-type"] = "text/plain" })
    for i = 1, 3 do
      ml.sleep(0.01)
      response:send("part ", i, "\n")
    end
    return
  elseif request.path == "/query" then
    return request.query.a .. "|" .. request.query["b c"]
  elseif request.path == "/nothing" then
    return 204
  end
  return 404, "no such page\n"
end })
local base = "http://127.0.0.1:" .. server.port

loop:task(function()
  local closing <close> = server
  local body, options = ("x"):rep(200000), { headers = { ["x-type"] = "big" } }
  local res = assert(http.post(base .. "/echo", body, options))
  assert(res.status == 201 and res.reason == "Created" and #res.body == 200000)
  assert(res.headers["X-TYPE"] == "big" and res.headers.connection == "close")
  res = assert(http.get(base .. "/stream"))
  assert(res.body == "part 1\npart 2\npart 3\n", res.body)
  assert(res.headers["transfer-encoding"] == "chunked")
  res = assert(http.get(base .. "/query", { query = { a = "ä&=", ["b c"] = 5 } }))
  assert(res.body == "ä&=|5", res.body)
  res = assert(http.get(base .. "/nothing"))
  assert(res.status == 204 and res.body == "")
  res = assert(http.head(base .. "/missing"))
  assert(res.status == 404 and res.body == "" and res.headers["content-length"] == "13")

  -- A client keeps its connection, and replaces one that the server has closed.
  connections = {}
  local client <close> = http.client { timeout = 5 }
  for _ = 1, 5 do assert(client:get(base .. "/nothing").status == 204) end
  assert(next(connections) and not next(connections, (next(connections))), "one connection")
  for stream in pairs(connections) do stream:invalidate() end
  assert(assert(client:get(base .. "/nothing")).status == 204)
  assert(#seen == 11, #seen)

  -- A body of JSON; fields that there are not.
  res = assert(http.post(base .. "/echo", "[1, null]"))
  local list <const> = res:json()
  assert(#list == 1 and list[1] == 1)
  res = assert(http.get(base .. "/stream", { stream = true }))
  local problem = select(2, pcall(res.json, res))
  assert(problem:find("^response:json: the body is read in parts, by response:read"), problem)
  res:close()
  problem = select(2, pcall(function() return res.text end))
  assert(problem:find("response: unknown field 'text' (Http/exchange.lua:", 1, true)
    and problem:find "; there are body, close, events, headers, json, read, reason, ", problem)
  problem = select(2, pcall(function() http.client():fetch "x" end))
  assert(problem:find("client: unknown field 'fetch' (Http/exchange.lua:", 1, true)
    and problem:find("; did you mean 'patch'?", 1, true), problem)

  -- Requests that cannot be made are values, not errors.
  local nothing, message, code = http.get "gopher://example.org/"
  assert(nothing == nil and code == "EINVAL" and message:find "use http or https", message)
  assert(select(3, http.get "127.0.0.1:80") == "EINVAL")
  local _, mistake = pcall(http.get, base, { timout = 1 })
  assert(mistake:find "unknown option 'timout' %(.*%); did you mean 'timeout'%?", mistake)
  for given, meant in pairs { prt = "port", max_bdy = "max_body" } do
    local ok, mistake = pcall(http.serve, { [given] = 1, print })
    assert(not ok and mistake:find("^ml.http.serve: unknown option '" .. given .. "'")
      and mistake:find("did you mean '" .. meant .. "'?", 1, true), mistake)
  end
  local ok
  ok, mistake = pcall(http.client().get, base)
  assert(not ok and mistake:find "client:get: must be called with a colon", mistake)
end)
loop:run()
