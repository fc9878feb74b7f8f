-- One request and its response on a stream.
local ml = require "moonloop"
local body = require "moonloop.http.body"
local events = require "moonloop.http.events"
local fields = require "moonloop.http.fields"
local handles = require "moonloop.text.handles"
local host = require "moonloop.text.host"
local message = require "moonloop.http.message"
local spelling = require "moonloop.text.spelling"
local url = require "moonloop.http.url"

local exchange = {}

-- How long a server may take to say "100 Continue"; then the body is sent anyway.
local CONTINUE_TIMEOUT = 1

-- A body of up to this size is sent at once: the stream queues it.
local SMALL = 64 << 10

-- How a request fails on a connection that the server has closed before.
local UNSEEN = { EPIPE = true, ECONNRESET = true, ETLS_TRUNCATED = true }

local function head_of(options, address, keeps, what)
  local made, source, length = fields.new(options.headers, what), options.body, nil
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
  else
    length = fields.length(made, what)
    made["transfer-encoding"] = not length and "chunked" or nil
  end
  if not method:find "^[%u%d%-_]+$" then
    host.mistake(("%s: not a method: %s"):format(what, method))
  end
  local target = address.target
  if options.query then
    target = target .. (target:find "?" and "&" or "?") .. url.encode_query(options.query, what)
  end
  return fields.head(("%s %s HTTP/1.1"):format(method, target), made, what), made, length
end

-- Reads responses up to the first for which the function is true; or nil, message, code, and
-- whether nothing has come.
-- @param has_come whether something had come before
local function read_until(stream, options, time, is_wanted, has_come)
  while stream:is_valid() do
    local response, why, code, is_nothing = message.read_response(stream, options.max_head, time)
    if not response then
      return nil, why or "the server closed the connection before it answered", code,
        is_nothing and not has_come
    end
    if is_wanted(response.status) then return response end
    has_come = true
  end
  return nil, "the connection was closed meanwhile", "ECANCELED"
end

local function is_final(status) return status >= 200 or status == 101 end
local function is_answer(status) return status == 100 or is_final(status) end

-- Sends a body in a task of its own while the response is read, which may come early. One that is
-- no success ends the sending. Returns what read_until does, and whether all was sent.
local function send_body(stream, options, write, left, has_come)
  local sent, is_over
  local task <close> = ml.current():task(function()
    sent = table.pack(pcall(write))
    -- Unless the server has closed the connection, and said why, there will be no answer.
    local has_failed = not sent[1] or not sent[2] and (sent[5] or not UNSEEN[sent[4]])
    if has_failed and not is_over then stream:invalidate() end
  end)
  local response, problem, code, is_nothing = read_until(stream, options, left, is_final,
    has_come)
  if response and response.status < 300 and not sent then task:await() end
  is_over = true
  if sent and not sent[1] then error(sent[2], 0) end
  if sent and not sent[2] and (sent[5] or not response) then
    return nil, sent[3], sent[4], is_nothing and not sent[5]
  end
  return response, problem, code, is_nothing, sent and sent[2]
end

-- Sends a request, and reads the response. Returns what read_until does, and whether all was sent.
local function ask(stream, options, address, keeps, left, what)
  local head, made, length = head_of(options, address, keeps, what)
  local source = options.body
  if type(source) ~= "function" then source = tostring(source or "") end
  local waits = fields.has(made.expect, "100-continue")
  local is_short = type(source) == "string" and #source <= SMALL
  local ok, problem, code = stream:write(head, is_short and not waits and source or "", left())
  local has_come = false
  if ok and waits then
    local limit = math.min(left().timeout or CONTINUE_TIMEOUT, CONTINUE_TIMEOUT)
    local early, why, kind = read_until(stream, options, message.deadline(limit), is_answer)
    if early and early.status ~= 100 then return early end
    if not early and kind ~= "ETIMEDOUT" then return nil, why, kind end
    has_come = early ~= nil
    if is_short then ok, problem, code = stream:write(source, left()) end
  end
  if not ok and not UNSEEN[code] then return nil, problem, code end
  if ok and not is_short then
    return send_body(stream, options, function()
      if type(source) == "string" then return stream:write(source, left()) end
      return body.write(stream, source, length, left)
    end, left, has_come)
  end
  local response, why, kind, is_nothing = read_until(stream, options, left, is_final, has_come)
  if response or ok then return response, why, kind, is_nothing, ok end
  return nil, problem, code, not has_come
end

local function has_body(method, status)
  return method ~= "HEAD" and status >= 200 and status ~= 204 and status ~= 304
end

local Response = {}
-- What is left to read of responses, where no script reaches it: `parts`, and `finish`, called once
-- with whether the body was read to its end.
local open = setmetatable({}, { __mode = "k" })

-- The fields of a response; those that not every one has are nil then.
local FIELDS = { "body", "headers", "reason", "status", "stream", "url", "version" }
local IS_OPTIONAL = { body = true, stream = true }

local function check_self(self, method)
  if getmetatable(self) ~= "response" then handles.refuse("response", method) end
end

--- Gives the next part of a body that is read in parts; nil at the end, or nil, message, code.
function Response:read(most)
  check_self(self, "read")
  body.check_most("response", most)
  local rest = open[self]
  if not rest then return nil end
  local part, problem, code = rest.parts(most)
  if part then return part end
  open[self] = nil
  rest.finish(problem == nil)
  if problem then return nil, problem, code end
end

--- Gives up the rest of the body.
function Response:close()
  check_self(self, "close")
  local rest = open[self]
  open[self] = nil
  if rest then rest.finish(false) end
end

--- Decodes the body, as `ml.json.decode` does.
function Response:json()
  check_self(self, "json")
  if not self.body then
    host.mistake("response:json: the body is read in parts, by response:read",
      "; without 'stream' it is whole")
  end
  return ml.json.decode(self.body)
end

--- An iterator over the server-sent events of the body.
function Response:events()
  check_self(self, "events")
  return events.iterator(function() return self:read() end, body.LIMIT)
end

--- The metatable of responses with these methods, beside those of all.
function exchange.meta(methods)
  for name, method in pairs(Response) do methods[name] = method end
  return { __name = "response", __metatable = "response", __close = Response.close,
    __index = function(_, key)
      if not methods[key] and not IS_OPTIONAL[key] then
        spelling.no_field("response", key, FIELDS, methods)
      end
      return methods[key]
    end }
end

local meta = exchange.meta {}

--- Sends a request and reads the response.
-- @param finish called once when the response is over, with whether the stream can be used again,
--   and whether all was sent
-- @param what begins messages: "ml.http.get"
-- @return the response; or nil, message, code, and whether the server cannot have seen it
function exchange.run(stream, options, address, keeps, left, finish, what)
  local response, problem, code, is_nothing, is_sent = ask(stream, options, address, keeps, left,
    what)
  if not response then return nil, problem, code, is_nothing and UNSEEN[code] end
  response.url = options.url
  setmetatable(response, meta)
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
  local is_reusable = framing ~= "close" and is_sent and message.keeps_alive(response)
  -- What is read in parts is not held, so that it may be of any length.
  local most = options.max_body or options.stream and math.maxinteger or nil
  local parts = body.parts(stream, framing, most, left)
  local function over(is_whole) finish(is_whole and is_reusable, is_sent) end
  if options.stream then
    open[response] = { parts = parts, finish = over }
    return response
  end
  response.body, problem, code = body.read(parts)
  if not response.body then return nil, problem, code end
  over(true)
  return response
end

return exchange
