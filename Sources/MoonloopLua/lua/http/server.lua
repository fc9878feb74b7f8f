-- The server: one task per connection answers its requests in order, within limits.
local ml = require "moonloop"
local message = require "moonloop.http.message"
local url = require "moonloop.http.url"

local server = {}

local REASONS = {
  [100] = "Continue", [200] = "OK", [201] = "Created", [202] = "Accepted", [204] = "No Content",
  [301] = "Moved Permanently", [302] = "Found", [303] = "See Other", [304] = "Not Modified",
  [307] = "Temporary Redirect", [308] = "Permanent Redirect", [400] = "Bad Request",
  [401] = "Unauthorized", [403] = "Forbidden", [404] = "Not Found", [405] = "Method Not Allowed",
  [408] = "Request Timeout", [409] = "Conflict", [410] = "Gone", [411] = "Length Required",
  [413] = "Content Too Large", [415] = "Unsupported Media Type", [422] = "Unprocessable Content",
  [429] = "Too Many Requests", [431] = "Request Header Fields Too Large",
  [500] = "Internal Server Error", [501] = "Not Implemented", [502] = "Bad Gateway",
  [503] = "Service Unavailable", [505] = "HTTP Version Not Supported",
}

-- The answers to requests that cannot be read.
local function status_of(code, is_head)
  if code == "EMSGSIZE" then return is_head and 431 or 413 end
  if code == "ENOTSUP" then return 501 end
  if code == "ETIMEDOUT" then return 408 end
  return 400
end

-- A response, written at once or in parts.
local Response = {}
Response.__index = Response

-- Writes the head. `send` then writes parts, and the handler's return ends the response.
function Response:start(status, headers)
  if self.is_started then error("http: the response has already been started", 2) end
  local fields = message.headers(headers)
  self.is_chunked = not fields["content-length"] and self.version ~= "1.0"
  if self.is_chunked then fields["transfer-encoding"] = "chunked" end
  if not self.is_chunked and not fields["content-length"] then self.keeps = false end
  return self:write_head(status, fields)
end

local function require_status(status)
  if math.type(status) == "integer" and status >= 100 and status <= 999 then return end
  error(("http: the status must be a whole number from 100 to 999, got %s"):format(status), 0)
end

-- Writes the head and the body in one piece: the peer then sees one packet, and we make one call.
function Response:write_head(status, fields, body)
  require_status(status)
  fields.connection = self.keeps and "keep-alive" or "close"
  local head = message.head(("HTTP/1.1 %d %s"):format(status, REASONS[status] or "Unknown"), fields)
  self.is_started = true  -- only now: if the head is invalid, 500 can still be answered
  return self.stream:write(head, body or "")
end

function Response:send(...)
  if not self.is_started then self:start(200) end
  local data = table.concat { ... }
  if data == "" or self.is_head then return true end
  local ok, problem, code = self.stream:write(self.is_chunked and message.chunk(data) or data)
  return ok and true, problem, code
end

-- Writes a whole response.
function Response:finish(status, body, headers)
  require_status(status)
  if type(body) ~= "string" then
    error("http: the body must be a string, got a " .. type(body), 0)
  end
  local fields = message.headers(headers)
  fields["transfer-encoding"] = nil  -- it has a length
  local allows = status ~= 204 and status ~= 304 and status >= 200
  if allows then fields["content-length"] = tostring(#body) end
  if allows and body ~= "" and not fields["content-type"] then
    fields["content-type"] = "text/plain; charset=utf-8"
  end
  return self:write_head(status, fields, allows and not self.is_head and body or nil)
end

-- Ends the response with what the handler returned: a body; a status, a body and headers; or a
-- table { status, body, headers }.
local function complete(response, first, body, headers)
  if response.is_started then
    if response.is_chunked and not response.is_head then response.stream:write "0\r\n\r\n" end
    return
  end
  if type(first) == "table" then
    return response:finish(first.status or 200, first.body or "", first.headers)
  end
  if type(first) == "string" then return response:finish(200, first, nil) end
  if first ~= nil and math.type(first) ~= "integer" then
    error("http: a handler must return a body, a status or a table, got a " .. type(first), 0)
  end
  return response:finish(first or (body and 200 or 204), body or "", headers)
end

local function refuse(stream, status, problem)
  if not stream:is_valid() then return end  -- closed in the meantime
  local response = setmetatable({ stream = stream, keeps = false, version = "1.1" }, Response)
  response:finish(status, (problem or "") .. "\n")
  stream:shutdown "write"
  -- Reads for a moment what the peer still sends; otherwise the peer might not see the answer.
  for _ = 1, 64 do
    if not stream:read_some(65536, { timeout = 0.2 }) then break end
  end
end

local function read_request(stream, options)
  local request, problem, code = message.read_request(stream, options.max_head,
    message.deadline(options.idle_timeout), options.timeout)
  if not request then
    if problem and code ~= "ECONNRESET" and code ~= "ETIMEDOUT" then
      refuse(stream, status_of(code, true), problem)
    end
    return nil
  end
  if request.version:sub(1, 2) ~= "1." then
    refuse(stream, 505, "HTTP/" .. request.version .. " is not supported")
    return nil
  end
  local framing, why, kind = message.framing(request.headers, true)
  if not framing then
    refuse(stream, status_of(kind), why)
    return nil
  end
  if framing ~= 0 and (request.headers.expect or ""):lower() == "100-continue" then
    stream:write "HTTP/1.1 100 Continue\r\n\r\n"
  end
  request.body, why, kind = message.read_body(stream, framing, options.max_body,
    function() return { timeout = options.timeout } end)
  if not request.body then
    if kind ~= "ECONNRESET" then refuse(stream, status_of(kind), why) end
    return nil
  end
  local resource = request.target:match "^%a[%w+.-]*://[^/?]+(.*)$" or request.target
  request.path, request.query_text = resource:match "^([^?]*)%??(.*)$"
  request.path = request.path == "" and "/" or url.unescape(request.path)
  request.query = url.parse_query(request.query_text)
  request.peer, request.stream = options.peer, stream
  return request
end

local function keeps_alive(request)
  local words = ("," .. (request.headers.connection or ""):lower() .. ","):gsub("%s", "")
  if request.version == "1.0" then return words:find(",keep-alive,", 1, true) ~= nil end
  return not words:find(",close,", 1, true)
end

-- Calls the handler. If it fails, the peer gets a 500 and the error is reported as the task's.
local function answer(request, response, handler)
  local is_done = false
  local guard <close> = setmetatable({}, { __close = function()
    if is_done then return end
    response.keeps = false
    if not response.is_started then response:finish(500, "internal server error\n") end
    response.stream:close()
  end })
  local first, body, headers = handler(request, response)
  complete(response, first, body, headers)
  is_done = true
end

-- Answers the requests of one connection until it closes.
local function serve_connection(stream, options)
  stream:set_timeout(options.timeout, options.timeout)
  while true do
    local request = read_request(stream, options)
    if not request then break end
    local response = setmetatable({ stream = stream, keeps = keeps_alive(request),
      version = request.version, is_head = request.method == "HEAD" }, Response)
    answer(request, response, options.handler)
    if not response.keeps then break end
  end
  stream:close()
end

local OWN = { handler = true, max_head = true, max_body = true, timeout = true,
  idle_timeout = true }

-- Serves HTTP. Options: those of ml.net.listen; `max_head` and `max_body` (bytes); `timeout` and
-- `idle_timeout` (seconds); the handler is the first element. Returns the listener; or nil,
-- message, code.
function server.serve(options)
  if type(options) ~= "table" then
    error("http.serve: takes a table of options, e.g. { port = 8080, handler }", 2)
  end
  local own = { handler = options[1] or options.handler, max_head = options.max_head,
    max_body = options.max_body, timeout = options.timeout or 30,
    idle_timeout = options.idle_timeout or 60 }
  if type(own.handler) ~= "function" then
    error("http.serve: the handler is missing; put a function first in the table", 2)
  end
  local listening = {}
  for key, value in pairs(options) do
    if key ~= 1 and not OWN[key] then listening[key] = value end
  end
  listening.line_limit = options.line_limit or own.max_head or message.HEAD_LIMIT
  listening[1] = function(stream, peer)
    local connection = setmetatable({ peer = peer }, { __index = own })
    serve_connection(stream, connection)
  end
  return ml.net.listen(listening)
end

return server
