-- One request and its response on a stream.
local body = require "moonloop.http.body"
local events = require "moonloop.http.events"
local fields = require "moonloop.http.fields"
local host = require "moonloop.text.host"
local message = require "moonloop.http.message"
local url = require "moonloop.http.url"

local exchange = {}

-- How long a server may take to say "100 Continue"; then the body is sent anyway.
local CONTINUE_TIMEOUT = 1

-- How a request fails on a connection that the server has closed before.
local UNSEEN = { EPIPE = true, ECONNRESET = true, ETLS_TRUNCATED = true }

local function head_of(options, address, keeps, what)
  local made, source = fields.new(options.headers, what), options.body
  made.host = made.host or address.authority
  made["user-agent"] = made["user-agent"] or "moonloop"
  made.accept = made.accept or "*/*"
  made.connection = keeps and "keep-alive" or "close"
  if options.upgrade then
    made.connection, made.upgrade = "Upgrade", options.upgrade
  end
  local method = options.method or "GET"
  local is_announced = source ~= nil or method == "POST" or method == "PUT" or method == "PATCH"
  made["transfer-encoding"] = nil  -- The body is what it is, whatever the headers say.
  if type(source) ~= "function" then
    made["content-length"] = is_announced and tostring(#tostring(source or "")) or nil
  elseif not made["content-length"] then
    made["transfer-encoding"] = "chunked"
  end
  if not method:find "^[%u%d%-_]+$" then
    host.mistake(("%s: not a method: %s"):format(what, method))
  end
  local target = address.target
  if options.query then
    target = target .. (target:find "?" and "&" or "?") .. url.encode_query(options.query)
  end
  return fields.head(("%s %s HTTP/1.1"):format(method, target), made, what), made
end

-- Sends a request. Returns the first response, if the server has answered before the body was sent.
local function send(stream, options, address, keeps, left, what)
  local head, made = head_of(options, address, keeps, what)
  local source = options.body
  local waits = fields.has(made.expect, "100-continue")
  if type(source) ~= "function" and not waits then
    return stream:write(head, tostring(source or ""), left())
  end
  local ok, problem, code = stream:write(head, left())
  if not ok then return nil, problem, code end
  if waits then
    local limit = math.min(left().timeout or CONTINUE_TIMEOUT, CONTINUE_TIMEOUT)
    local early, why, kind = message.read_response(stream, options.max_head,
      function() return { timeout = limit } end)
    if early and early.status ~= 100 then return early end
    if not early and kind ~= "ETIMEDOUT" then
      return nil, why or "the server closed the connection before it answered", kind
    end
  end
  if type(source) ~= "function" then return stream:write(tostring(source or ""), left()) end
  return body.write(stream, source, made["transfer-encoding"] == "chunked", left)
end

local function has_body(method, status)
  return method ~= "HEAD" and status >= 200 and status ~= 204 and status ~= 304
end

local Response = {}
Response.__index = Response
exchange.Response = Response

--- Gives the next part of a body that is read in parts; nil at the end, or nil, message, code.
function Response:read(most)
  body.check_most("response", most)
  if not self.parts then return nil end
  local part, problem, code = self.parts(most)
  if part then return part end
  self.parts = nil
  self.finish(problem == nil)
  if problem then return nil, problem, code end
end

--- Gives up the rest of the body.
function Response:close()
  if not self.parts then return end
  self.parts = nil
  self.finish(false)
end
Response.__close = Response.close

--- An iterator over the server-sent events of the body.
function Response:events()
  return events.iterator(function() return self:read() end, body.LIMIT)
end

--- Sends a request and reads the response.
-- @param finish called once with whether the stream can be used again, when the response is over
-- @param what begins messages: "ml.http.get"
-- @return the response; or nil, message, code, and whether the server cannot have seen it
function exchange.run(stream, options, address, keeps, left, finish, what)
  local sent, problem, code = send(stream, options, address, keeps, left, what)
  if not sent then return nil, problem, code, UNSEEN[code] end
  local response, unread = type(sent) == "table" and sent or nil, nil
  while not response or response.status < 200 and response.status ~= 101 do
    response, problem, code, unread = message.read_response(stream, options.max_head, left)
    if not response then
      problem = problem or "the server closed the connection before it answered"
      return nil, problem, code, unread and UNSEEN[code]
    end
  end
  response.url, response.reusable = options.url, false
  setmetatable(response, Response)
  if response.status == 101 then
    if not options.upgrade then return nil, "the server has changed the protocol", "EBADMSG" end
    response.stream, response.body = stream, ""
    return response
  end
  local framing = 0
  if has_body(options.method or "GET", response.status) then
    framing, problem, code = body.framing(response.headers, false)
    if not framing then return nil, problem, code end
  end
  -- What is left unsent after an early answer would be taken for the next request.
  response.reusable = framing ~= "close" and type(sent) ~= "table" and message.keeps_alive(response)
  local parts = body.parts(stream, framing, options.max_body, left)
  response.finish = function(is_whole)
    response.finish = nil
    finish(is_whole and response.reusable)
  end
  if options.stream then
    response.parts = parts
    return response
  end
  response.body, problem, code = body.read(parts)
  if not response.body then return nil, problem, code end
  response.finish(true)
  return response
end

return exchange
