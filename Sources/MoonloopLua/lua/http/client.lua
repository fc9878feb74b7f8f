-- The client: a single request, or a client that keeps connections for later requests.
local ml = require "moonloop"
local message = require "moonloop.http.message"
local url = require "moonloop.http.url"
local spelling = require "moonloop.text.spelling"

local client = {}

local OPTIONS = {
  url = "string", method = "string", headers = "table", body = "string", query = "table",
  timeout = "number", max_body = "number", max_head = "number", keep_alive = "boolean",
}

-- The options of one request, from the arguments of http.get and the others.
function client.options(method, address, body, options)
  local made = { method = method, url = address, body = body }
  for key, value in pairs(options or {}) do made[key] = value end
  return made
end

local function check(options, level)
  for key, value in pairs(options) do
    local expected = OPTIONS[key]
    if not expected then
      local names = {}
      for name in pairs(OPTIONS) do names[#names + 1] = name end
      table.sort(names)
      error(("http.request: unknown option '%s'%s"):format(tostring(key),
        spelling.hint(tostring(key), names, "the options are")), level + 1)
    end
    if type(value) ~= expected then
      error(("http.request: '%s' must be a %s, got a %s"):format(key, expected, type(value)),
        level + 1)
    end
  end
  if not options.url then
    error("http.request: needs 'url', e.g. http://host:port/", level + 1)
  end
end

local function connect(address, made, left)
  local options = left()
  options.line_limit = made.max_head or message.HEAD_LIMIT
  options.host, options.port, options.path = address.host, address.port, address.path
  return ml.net.connect(options)
end

local function send(stream, options, address, keep_alive, left)
  local headers = message.headers(options.headers)
  headers.host = headers.host or address.authority
  headers["user-agent"] = headers["user-agent"] or "moonloop"
  headers.accept = headers.accept or "*/*"
  headers.connection = keep_alive and "keep-alive" or "close"
  local method = options.method or "GET"
  if options.body or method == "POST" or method == "PUT" or method == "PATCH" then
    headers["content-length"] = tostring(#(options.body or ""))
  end
  if not method:find "^[%u%d%-_]+$" then error("http.request: not a method: " .. method, 0) end
  local target = address.target
  if options.query then
    target = target .. (target:find "?" and "&" or "?") .. url.encode_query(options.query)
  end
  local head = message.head(("%s %s HTTP/1.1"):format(method, target), headers)
  return stream:write(head, options.body or "", left())
end

local function has_body(method, status)
  return method ~= "HEAD" and status >= 200 and status ~= 204 and status ~= 304
end

-- Sends a request on a stream and reads the response; `reusable` says whether the stream can be
-- kept.
local function exchange(stream, options, address, keep_alive, left)
  local ok, problem, code = send(stream, options, address, keep_alive, left)
  if not ok then return nil, problem, code end
  local response
  repeat  -- 1xx responses precede the final one
    response, problem, code = message.read_response(stream, options.max_head, left)
    if not response then return nil, problem, code end
  until response.status >= 200
  local framing = 0
  if has_body(options.method or "GET", response.status) then
    framing, problem, code = message.framing(response.headers, false)
    if not framing then return nil, problem, code end
  end
  response.body, problem, code = message.read_body(stream, framing, options.max_body, left)
  if not response.body then return nil, problem, code end
  response.url = options.url
  local connection = (response.headers.connection or ""):lower()
  response.reusable = framing ~= "close" and connection ~= "close"
    and (response.version ~= "1.0" or connection == "keep-alive")
  return response
end

-- One request on its own connection. Returns { status, reason, headers, body, url, version }; or
-- nil, message, code.
function client.request(options)
  check(options, 2)
  local address, problem = url.parse(options.url)
  if not address then return nil, problem, "EINVAL" end
  local left = message.deadline(options.timeout)
  local stream, why, code = connect(address, options, left)
  if not stream then return nil, why, code end
  local closing <close> = stream
  return exchange(stream, options, address, false, left)
end

-- A client that keeps idle connections, with one connection per host for each concurrent request.
local Client = {}
Client.__index = Client

function client.new(options)
  return setmetatable({ defaults = options or {}, idle = {}, is_closed = false }, Client)
end

local function key_of(address)
  return address.path or address.host .. ":" .. address.port
end

function Client:request(options)
  local made = client.options(options.method, options.url, options.body, self.defaults)
  for key, value in pairs(options) do made[key] = value end
  check(made, 2)
  if self.is_closed then error("http: the client is closed", 2) end
  local address, problem = url.parse(made.url)
  if not address then return nil, problem, "EINVAL" end
  local left, key = message.deadline(made.timeout), key_of(address)
  local kept = table.remove(self.idle[key] or {})
  local stream, why, code = kept, nil, nil
  if not stream then stream, why, code = connect(address, made, left) end
  if not stream then return nil, why, code end
  local response
  response, why, code = exchange(stream, made, address, true, left)
  if not response and kept and (code == "EPIPE" or code == "ECONNRESET" or code == "EBADMSG")
    and (made.method or "GET") ~= "POST" then
    stream:invalidate()  -- the peer had closed the kept connection: try once more on a new one
    stream, why, code = connect(address, made, left)
    if not stream then return nil, why, code end
    response, why, code = exchange(stream, made, address, true, left)
  end
  if not response or not response.reusable or self.is_closed then
    stream:close()
  else
    self.idle[key] = self.idle[key] or {}
    table.insert(self.idle[key], stream)
  end
  return response, why, code
end

for _, method in ipairs { "get", "head", "delete", "options" } do
  Client[method] = function(self, address, options)
    return self:request(client.options(method:upper(), address, nil, options))
  end
end
for _, method in ipairs { "post", "put", "patch" } do
  Client[method] = function(self, address, body, options)
    return self:request(client.options(method:upper(), address, body, options))
  end
end

-- Closes the idle connections; those in use close after their response.
function Client:close()
  self.is_closed = true
  for _, streams in pairs(self.idle) do
    for _, stream in ipairs(streams) do stream:close() end
  end
  self.idle = {}
end
Client.__close = Client.close

return client
