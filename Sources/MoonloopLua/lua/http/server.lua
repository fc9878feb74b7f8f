-- The server: one task per connection answers its requests in order, within limits.
local ml = require "moonloop"
local body = require "moonloop.http.body"
local handles = require "moonloop.text.handles"
local host = require "moonloop.text.host"
local leaving = require "moonloop.http.leaving"
local message = require "moonloop.http.message"
local responses = require "moonloop.http.response"
local spelling = require "moonloop.text.spelling"
local url = require "moonloop.http.url"

local mistake = host.mistake

local server = {}

-- How much of a body that the handler has not read is skipped to keep the connection.
local SKIPPED = 64 << 10

-- The answers to requests that cannot be read.
local function status_of(code, is_head)
  if code == "EMSGSIZE" then return is_head and 431 or 413 end
  if code == "ENOTSUP" then return 501 end
  if code == "ETIMEDOUT" then return 408 end
  return 400
end

local function refuse(stream, status, problem)
  if not stream:is_valid() then return end  -- closed in the meantime
  local response = responses.new(stream, { version = "1.1" }, false)
  responses.finish(response, status, (problem or "") .. "\n")
  stream:close()  -- what the peer still sends is dropped, so that it sees the answer
end

-- What a handler may ask of a request, on what it gets instead of one: a table that has only that,
-- and what the handler itself keeps in it.
local Request = {}
-- The fields of a request; some may be nil.
local FIELDS = { "body", "failure", "headers", "method", "path", "peer", "query", "query_text",
  "read", "stream", "target", "version" }
local IS_FIELD = {}
for _, name in ipairs(FIELDS) do IS_FIELD[name] = name ~= "read" end

local STATE <const> = 1
local meta = { __name = "request", __metatable = "request" }

function meta.__index(self, name)
  local request = self[STATE]
  if IS_FIELD[name] then
    if name == "query" and not request.query then  -- read when it is asked for: few handlers do
      request.query = url.parse_query(request.query_text)
    end
    return request[name]
  end
  if Request[name] then return Request[name] end
  if name == "json" then
    mistake("request: unknown field 'json'", "; decode its body: ml.json.decode(request.body)")
  end
  mistake(("request: unknown field '%s'"):format(tostring(name)),
    spelling.hint(tostring(name), FIELDS, "its fields are"))
end

function meta.__newindex(self, name, value)
  if IS_FIELD[name] ~= nil then mistake(("request.%s: cannot be set"):format(name)) end
  local near = type(name) == "string" and spelling.nearest(name, FIELDS, 1)
  if near then
    mistake(("request: unknown field '%s'"):format(name), ("; did you mean '%s'?"):format(near))
  end
  rawset(self, name, value)
end

function meta.__tostring(self) return ("request %s %s"):format(self.method, self.target) end

function meta.__pairs(self)
  local all = {}
  for _, name in ipairs(FIELDS) do all[name] = IS_FIELD[name] and self[name] or nil end
  for name, value in next, self do
    if name ~= STATE then all[name] = value end
  end
  return next, all
end

-- Gives the next part of the body; nil at the end, or nil, message, code.
local function read(request, most)
  if request.is_read then return nil end
  if request.awaits_continue then
    request.awaits_continue = nil
    if not (request.length and request.length > request.limit) then
      request.stream:write "HTTP/1.1 100 Continue\r\n\r\n"
    end
  end
  local part, problem, code = request.parts(most)
  if part then return part end
  request.is_read, request.failure = not problem, code
  if problem then return nil, problem, code end
end

function Request:read(most)
  if getmetatable(self) ~= "request" then handles.refuse("request", "read") end
  local request = self[STATE]
  body.check_most("request", most)
  if request.body then
    mistake("request:read: the body was read already: it is request.body",
      "; or serve with stream_bodies = true")
  end
  return read(request, most)
end

-- Prepares the body of a request. Returns nil, status, and what is wrong.
local function prepare(request, stream, options)
  local framing, why, kind = body.framing(request.headers, true)
  if not framing then return nil, status_of(kind), why end
  local expected = rawget(request.headers, "expect")
  if expected and expected:lower() ~= "100-continue" then
    return nil, 417, ("'%s' cannot be expected"):format(expected:sub(1, 40))
  end
  request.awaits_continue = expected and framing ~= 0 and request.version ~= "1.0" or nil
  request.length = math.type(framing) and framing
  request.limit = options.max_body or body.LIMIT
  request.parts = body.parts(stream, framing, options.max_body,
    framing ~= 0 and options.body_time())
  request.is_read = framing == 0
  return true
end

-- Sets the path and the query of a target that is an address, or needs decoding.
local function split_target(request)
  local target = request.target
  local is_path = target:find("/", 1, true) == 1
  local authority, rest = target:match "^%a+://([^/?]+)(.*)$"
  if is_path then authority = nil end
  -- RFC 9112, 3.2.2: then the field does not count.
  if authority then request.headers.host = authority end
  local resource = authority and rest or target
  local mark = resource:find("?", 1, true)
  local path = mark and resource:sub(1, mark - 1) or resource
  request.path = path == "" and "/" or url.unescape(path)
  request.query_text = mark and resource:sub(mark + 1) or ""
end

-- Reads the body of a request, unless the handler reads that. Returns whether it goes on.
local function read_body(request, stream, options)
  local ready, status, why, code = prepare(request, stream, options)
  if not ready then return refuse(stream, status, why) end
  if request.is_read or options.stream_bodies then return true end
  request.body, why, code = body.read(function() return read(request) end)
  if request.body then return true end
  if code ~= "ECONNRESET" then refuse(stream, status_of(code), why) end
end

-- Reads a request, with its body unless the handler reads that. Returns it, and whether the
-- connection is kept.
local function read_request(stream, peer, options)
  local request, what, code =
    message.read_request(stream, options.max_head, options.idle, options.timeout)
  if not request then
    if what and (code == "EBADMSG" or code == "EMSGSIZE" or code == "ENOTSUP") then
      refuse(stream, status_of(code, true), what)
    end
    return nil
  end
  local version, is_simple = request.version, what
  if version ~= "1.1" and version:sub(1, 2) ~= "1." then
    return refuse(stream, 505, "HTTP/" .. version .. " is not supported")
  end
  request.stream, request.peer = stream, peer
  if is_simple then
    request.is_read = true
  elseif not read_body(request, stream, options) then
    return nil
  end
  if request.is_read and not options.stream_bodies then request.body = request.body or "" end
  if not request.path then split_target(request) end
  return request, is_simple or message.keeps_alive(request)
end

-- Ends the response of a handler that did not return; one for all requests of a connection.
local Guard = {}
function Guard:__close()
  local response = self.response
  if not response then return end
  response.keeps = false
  if not response.stream:is_valid() then return end
  if response.is_started or leaving.has_left(response.stream) then
    return responses.abort(response)
  end
  responses.finish(response, 500, "internal server error\n")
  response.stream:close()
end

-- Sends what the handler returned; a mistake in it names the request, which has no line.
local function complete(request, response, first, text, headers)
  if type(first) == "string" and text == nil and not response.is_started then
    return responses.complete(response, first)  -- is right
  end
  local ok, done = pcall(responses.complete, response, first, text, headers)
  if ok then return done end
  local asked = ("ml.http.serve: %s %s: "):format(request.method, request.path:sub(1, 100))
  local named = asked:gsub("%%", "%%%%")
  error(type(done) == "string" and done:gsub("^ml%.http%.serve: ", named) or done, 0)
end

-- Calls the handler. If it fails, the peer gets a 500 and the error is reported as the task's.
-- Returns the stream if all is well; else it may be closed.
local function answer(request, response, handler, takes_response)
  local first, text, headers =
    handler(setmetatable({ request }, meta), takes_response and responses.handle(response) or nil)
  if not request.is_read and request.failure and not response.is_started then
    refuse(request.stream, status_of(request.failure), "the body cannot be read")
  elseif request.stream:is_valid() then
    return complete(request, response, first, text, headers)
  end
end

-- Skips what the handler has not read. Returns whether the next request can be read.
local function skip(request)
  local skipped = 0
  while not request.is_read and skipped < SKIPPED do
    local part = read(request)
    skipped = skipped + #(part or "")
    if not part then break end
  end
  return request.is_read
end

-- Answers the requests of one connection until it closes, in the task of the connection. That is
-- cancelled if the client leaves before it has its answer: while the handler works, and while a
-- response is written.
local function serve_connection(stream, peer, options)
  local timeout, handler = options.timeout, options.handler
  stream:set_timeout(timeout, timeout)
  if not options.half_close then leaving.cancels(stream) end
  local guard <close> = setmetatable({ response = false }, Guard)
  while true do
    local request, keeps = read_request(stream, peer, options)
    if not request then break end
    local response = responses.new(stream, request, keeps, timeout)
    guard.response = response
    local done = answer(request, response, handler, options.takes_response)
    guard.response, response.is_over = false, true
    if not response.keeps or done ~= stream and not stream:is_valid() then break end
    if not request.is_read and not skip(request) then break end
  end
  if stream:is_valid() then stream:close() end
end

local OWN = { "body_timeout", "handler", "half_close", "idle_timeout", "max_body", "max_head",
  "stream_bodies", "timeout" }

-- A mistake in the options of ml.net.listen, as one in ours.
local function mistake_in(text)
  text = tostring(text):gsub("^ml%.net%.listen", "ml.http.serve")
  local name = text:match "unknown option '([^']*)'"
  local near = name and spelling.nearest(name, OWN)
  return near and ("%s; did you mean '%s'?"):format(text:match "^[^;]*", near) or text
end

-- There is no handler: it is missing, or its name is misspelt.
local function refuse_handler(others)
  for name in pairs(others) do
    local near = type(name) == "string" and spelling.nearest(name, { "handler" })
    if near then
      mistake(("ml.http.serve: unknown option '%s'"):format(name), "; did you mean 'handler'?")
    end
  end
  mistake("ml.http.serve: the handler is missing", "; put a function first in the table")
end

-- What gives the time limits of a body: those of each read; and of all, where the server reads it.
local function body_time(own)
  local limit = { timeout = own.timeout }
  local function each() return limit end
  if own.stream_bodies then return function() return each end end
  return function()
    local left = message.deadline(own.body_timeout)
    return function()
      local options = left()
      options.timeout = math.min(options.timeout, own.timeout)
      return options
    end
  end
end

-- Serves HTTP. Options: those of ml.net.listen; `max_head` and `max_body` (bytes); `timeout`,
-- `body_timeout` and `idle_timeout` (seconds); `stream_bodies`, `half_close`; the handler is the
-- first element. Returns the listener; or nil, message, code.
function server.serve(options)
  if type(options) ~= "table" then
    mistake("ml.http.serve: takes a table of options, such as { port = 8080, handler }; got "
      .. host.given(options))
  end
  local own, listening = {}, {}
  for key, value in pairs(options) do listening[key] = value end
  for _, name in ipairs(OWN) do own[name], listening[name] = options[name], nil end
  own.handler = options[1] or own.handler
  if type(own.handler) ~= "function" then refuse_handler(listening) end
  -- Most handlers take a request alone, and need no second table. Guests cannot ask.
  local shape = debug.getinfo and debug.getinfo(own.handler, "u")
  own.takes_response = not shape or shape.isvararg or shape.nparams > 1
  own.timeout, own.idle_timeout = own.timeout or 30, own.idle_timeout or 60
  own.body_timeout = own.body_timeout or 300
  own.body_time = body_time(own)
  own.idle = { timeout = own.idle_timeout }
  listening.line_limit = options.line_limit or own.max_head or message.HEAD_LIMIT
  listening[1] = function(stream, peer) return serve_connection(stream, peer, own) end
  local made = table.pack(pcall(ml.net.listen, listening))
  if made[1] then return table.unpack(made, 2, made.n) end
  error(mistake_in(made[2]), 0)
end

return server
