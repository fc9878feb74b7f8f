-- HTTP: a small page, as a server in Lua on luv gives it: reads the head, answers in one write.
local uv, bench = require "luv", require "harness"
local count, start_clients = bench.requests()

local function read_head(head)
  local method, target, version, rest = head:match "^(%u+) (%S+) HTTP/(%d%.%d)\r\n(.*)"
  local headers = {}
  for name, value in rest:gmatch "([^:\r\n]+):%s*([^\r\n]*)\r\n" do
    headers[name:lower()] = value
  end
  return { method = method, path = target, version = version, headers = headers }
end

local function answer(request)
  count(1)
  return request.method == "GET" and bench.page or ""
end

local server = uv.new_tcp()
server:bind("127.0.0.1", 0)
server:listen(1024, function()
  local client, pending = uv.new_tcp(), ""
  server:accept(client)
  client:nodelay(true)
  client:read_start(function(_, data)
    if not data then return end
    pending = pending .. data
    local last = select(2, pending:find("\r\n\r\n", 1, true))
    if not last then return end
    local body = answer(read_head(pending:sub(1, last)))
    pending = pending:sub(last + 1)
    client:write(("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s"):format(#body, body))
  end)
end)
start_clients(server:getsockname().port)
uv.run()
