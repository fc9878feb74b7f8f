-- W12: a small page, as a server in Lua on luv gives it: reads the head, answers in one write.
local uv, bench = require "luv", require "harness"

local function read_head(head)
  local method, target, version, rest = head:match "^(%u+) (%S+) HTTP/(%d%.%d)\r\n(.*)"
  local headers = {}
  for name, value in rest:gmatch "([^:\r\n]+):%s*([^\r\n]*)\r\n" do
    headers[name:lower()] = value
  end
  return { method = method, path = target, version = version, headers = headers }
end

local function answer(request)
  return request.method == "GET" and bench.page or ""
end

local date, date_time
local function http_date()
  local now = os.time()
  if now ~= date_time then date, date_time = os.date("!%a, %d %b %Y %H:%M:%S GMT", now), now end
  return date
end

local server = uv.new_tcp()
server:bind("127.0.0.1", bench.port)
server:listen(1024, function()
  local client, pending = uv.new_tcp(), ""
  server:accept(client)
  client:nodelay(true)
  client:read_start(function(_, data)
    if not data then return client:close() end
    pending = pending .. data
    local last = select(2, pending:find("\r\n\r\n", 1, true))
    if not last then return end
    local body = answer(read_head(pending:sub(1, last)))
    pending = pending:sub(last + 1)
    client:write(("HTTP/1.1 200 OK\r\nDate: %s\r\nContent-Length: %d\r\n\r\n%s"):format(
      http_date(), #body, body))
  end)
end)
uv.run()
