-- What a server answers: written at once or in parts.
local body = require "moonloop.http.body"
local events = require "moonloop.http.events"
local fields = require "moonloop.http.fields"
local files = require "moonloop.http.files"
local heads = require "moonloop.http.heads"
local handles = require "moonloop.text.handles"
local host = require "moonloop.text.host"
local spelling = require "moonloop.text.spelling"
local mistake = host.mistake

local REASONS = {
  [100] = "Continue", [101] = "Switching Protocols", [200] = "OK", [201] = "Created",
  [202] = "Accepted", [204] = "No Content", [206] = "Partial Content",
  [301] = "Moved Permanently", [302] = "Found", [303] = "See Other", [304] = "Not Modified",
  [307] = "Temporary Redirect", [308] = "Permanent Redirect", [400] = "Bad Request",
  [401] = "Unauthorized", [403] = "Forbidden", [404] = "Not Found", [405] = "Method Not Allowed",
  [408] = "Request Timeout", [409] = "Conflict", [410] = "Gone", [411] = "Length Required",
  [413] = "Content Too Large", [415] = "Unsupported Media Type", [416] = "Range Not Satisfiable",
  [417] = "Expectation Failed", [422] = "Unprocessable Content", [426] = "Upgrade Required",
  [429] = "Too Many Requests", [431] = "Request Header Fields Too Large",
  [500] = "Internal Server Error", [501] = "Not Implemented", [502] = "Bad Gateway",
  [503] = "Service Unavailable", [505] = "HTTP Version Not Supported",
}

local lines = {}
-- The first line of a response.
local function status_line(status)
  if not lines[status] then
    lines[status] = ("HTTP/1.1 %d %s"):format(status, REASONS[status] or "Unknown")
  end
  return lines[status]
end

local function allows_body(status) return status ~= 204 and status ~= 304 end

-- What a handler may call, on what it gets instead of a response: a table that has only that, so
-- that no assignment goes unseen.
local Response = {}
-- What the server calls, on a response.
local responses = {}

local METHODS = { "event", "send", "start", "upgrade" }
local RETURNED = { "body", "headers", "status" }

-- A handler has taken a name for one of a response.
local function refuse_field(_, name)
  name = tostring(name)
  if Response[name] then mistake(("response.%s: cannot be set"):format(name)) end
  local meant = spelling.nearest(name, RETURNED, 1)
  if meant then
    mistake(("response: unknown field '%s'"):format(name),
      ("; the handler returns %s: return status, body, headers"):format(
        meant == name and "it" or ("'%s'"):format(meant)))
  end
  mistake(("response: unknown field '%s'"):format(name),
    spelling.hint(name, METHODS, "its methods are"))
end

local STATE <const> = 1
local meta = { __name = "response", __metatable = "response", __newindex = refuse_field }
function meta.__index(self, name) return Response[name] or refuse_field(self, name) end

local function state_of(self, method)
  if getmetatable(self) ~= "response" then handles.refuse("response", method) end
  return self[STATE]
end

-- What begins messages about what a handler has returned: it has no line.
local SERVE = "ml.http.serve"

local function check_status(status, what)
  if math.type(status) == "integer" and status >= 200 and status <= 999 then return end
  mistake(("%s: the status must be a whole number from 200 to 999, got %s"):format(what,
    host.given(status)))
end

-- The second value after a body, which has no meaning. A small number is likely that of `gsub`.
local function check_second(second)
  if second == nil then return end
  if math.type(second) ~= "integer" then
    mistake(("%s: a body is returned alone or after a status: return 200, body, headers; "
      .. "got %s after a body"):format(SERVE, host.given(second)))
  elseif second >= 100 and second <= 599 then
    mistake(SERVE .. ": the status comes first: return 404, \"no such page\"")
  end
end

--- A response on a stream.
-- @param keeps whether the connection is to stay open
-- @param timeout for each write
function responses.new(stream, request, keeps, timeout)
  return { stream = stream, request = request, keeps = keeps, timeout = timeout,
    is_head = request.method == "HEAD", is_started = false, is_upgraded = false,
    is_over = false }
end

--- What a handler gets of a response.
function responses.handle(self) return setmetatable({ self }, meta) end

local function start(self, status, headers)
  if self.is_started then mistake "response:start: the response has already been started" end
  local made = fields.new(headers, "response:start")
  local length = fields.length(made, "response:start")
  self.is_bare = self.is_head or not allows_body(status)
  if not self.is_bare then
    self.left = length
    self.is_chunked = not length and self.request.version ~= "1.0"
    if not self.is_chunked and not length then self.keeps = false end
  end
  return responses.write_head(self, status, made, nil, "response:start")
end

--- Writes the head. `send` then writes parts, and the handler's return ends the response.
function Response:start(status, headers) return start(state_of(self, "start"), status, headers) end

-- Whether a field, which may be a list, has a word.
local function has_word(value, word)
  for _, one in ipairs(type(value) == "table" and value or { value }) do
    if fields.has(tostring(one), word) then return true end
  end
  return false
end

--- Writes the head and the body in one piece: the peer then sees one packet, and we make one call.
-- Where the body ends is said here, whatever the handler's headers say.
-- @param what begins messages
function responses.write_head(self, status, made, text, what)
  if status ~= 101 or not made.upgrade then check_status(status, what) end
  -- A body that was announced and not asked for may come or not.
  if self.request.awaits_continue then self.keeps = false end
  local connection = rawget(made, "connection")
  if connection and has_word(connection, "close") then self.keeps = false end
  made.connection = connection or self.keeps and "keep-alive" or "close"
  made["transfer-encoding"] = self.is_chunked and "chunked" or nil
  if status == 204 or status == 101 then made["content-length"] = nil end
  made.date = rawget(made, "date") or fields.now()
  local head = fields.head(status_line(status), made, what)
  self.is_started = true  -- only now: if the head is invalid, 500 can still be answered
  return self.stream:write(head, text or "")
end

local function send(self, ...)
  if self.is_over then
    mistake("response:send: the answer has ended, as its handler has returned or upgraded it")
  end
  if not self.is_started then start(self, 200) end
  local data = table.concat { ... }
  if data == "" or self.is_bare then return true end
  if self.left then
    if #data > self.left then
      mistake(("response:send: the body is %d bytes longer than 'content-length'"):format(
        #data - self.left))
    end
    self.left = self.left - #data
  end
  local ok, problem, code = self.stream:write(self.is_chunked and body.chunk(data) or data)
  if not ok then self.has_failed = true end
  return ok and true, problem, code
end

function Response:send(...) return send(state_of(self, "send"), ...) end

-- Ends a response whose parts were all sent.
local function finish_parts(self)
  if (self.left or 0) > 0 then
    mistake(("%s: the body is %d bytes shorter than 'content-length'"):format(SERVE, self.left))
  end
  if self.is_chunked then return self.stream:write(body.LAST_CHUNK) end
  return self.stream
end

-- Sends what a function gives.
local function send_parts(self, source)
  while true do
    local part, problem = source()
    if part == nil then
      if problem == nil then return finish_parts(self) end
      mistake(("%s: the body failed: %s"):format(SERVE, tostring(problem)))
    end
    if type(part) ~= "string" and type(part) ~= "number" then
      mistake(("%s: a part of a body must be a string or a number, got %s"):format(SERVE,
        host.given(part)))
    end
    if not send(self, tostring(part)) then return nil end
  end
end

--- Sends a server-sent event.
function Response:event(event)
  local response = state_of(self, "event")
  local text = events.encode(event)
  if not response.is_started then
    start(response, 200,
      { ["content-type"] = "text/event-stream", ["cache-control"] = "no-cache" })
  end
  return send(response, text)
end

-- Whether the client has asked for a protocol (RFC 9110, 7.8).
local function has_asked(request, protocol)
  local headers = request.headers
  return request.version ~= "1.0" and fields.has(rawget(headers, "connection"), "upgrade")
    and fields.has(rawget(headers, "upgrade"), protocol:lower())
end

local function upgrade(self, protocol, headers)
  if self.is_started then mistake "response:upgrade: the response has already been started" end
  if type(protocol) ~= "string" then
    mistake "response:upgrade: needs the name of the protocol, e.g. \"websocket\""
  end
  if not self.request.is_read then
    mistake("response:upgrade: the request has a body; read it before, with request:read")
  end
  if not has_asked(self.request, protocol) then
    local problem = ("the client has not asked for '%s'"):format(protocol)
    responses.finish(self, 426, problem .. "\n", { upgrade = protocol })
    self.is_over = true
    return nil, problem, "EPROTO"
  end
  local made = fields.new(headers, "response:upgrade")
  made.connection, made.upgrade = "Upgrade", protocol
  self.keeps = false
  local ok, problem, code = responses.write_head(self, 101, made, nil, "response:upgrade")
  if not ok then return nil, problem, code end
  self.is_upgraded, self.is_over = true, true
  self.stream:on(nil)
  self.stream:set_timeout(nil, nil)
  return self.stream
end

--- Ends HTTP on this connection: the stream is the handler's, until that returns. A client that
--- has not asked for the protocol gets a 426, and the handler nil, message, code.
function Response:upgrade(protocol, headers)
  return upgrade(state_of(self, "upgrade"), protocol, headers)
end

--- The peer must not take what it has got for a whole response.
function responses.abort(self)
  self.keeps = false
  self.stream:invalidate()
end

-- The beginning of a head without fields of the handler's: for each status, on connections that are
-- kept and on others.
local function beginnings(connection)
  return setmetatable({}, { __index = function(self, status)
    local words = "%s\r\nconnection: %s\r\ncontent-length: "
    self[status] = words:format(status_line(status), connection)
    return self[status]
  end })
end
local KEPT, LAST = beginnings "keep-alive", beginnings "close"
-- A body of up to this size is put behind its head in one string.
local SMALL = 4096

local ending, ending_time
-- Writes a whole response that has a text, and no headers of the handler's.
local function finish_text(self, status, text)
  if not self.request.is_read and self.request.awaits_continue then self.keeps = false end
  self.is_started = true
  local now = os.time()
  if now ~= ending_time then
    ending = ("\r\ncontent-type: text/plain; charset=utf-8\r\ndate: %s\r\n\r\n"):format(
      fields.date(now))
    ending_time = now
  end
  local beginning, is_long = (self.keeps and KEPT or LAST)[status], #text > SMALL
  local head = heads.answer(beginning, ending, text, is_long or self.is_head)
  if is_long and not self.is_head then return self.stream:write(head, text) end
  return self.stream:write(head)
end

--- Writes a whole response; the body is a text, a number, or a function that gives its parts.
function responses.finish(self, status, text, headers)
  check_status(status, SERVE)
  local allows = allows_body(status)
  if headers == nil and allows and type(text) == "string" and text ~= "" then
    return finish_text(self, status, text)
  end
  local made = fields.new(headers, SERVE)
  if type(text) == "function" then
    start(self, status, made)
    if self.is_bare then return end
    return send_parts(self, text)
  end
  if type(text) ~= "string" and type(text) ~= "number" then
    mistake(("%s: a body must be a string, a number or a function, got %s"):format(SERVE,
      host.given(text)), type(text) == "table" and "; ml.json.encode makes a text of one" or "")
  end
  text = tostring(text)
  if not allows and text ~= "" then
    mistake(("%s: a response with the status %d has no body, got %s"):format(SERVE, status,
      host.given(text)), ("; return %d alone"):format(status))
  end
  if allows then
    local length = fields.length(made, SERVE)
    if length and length ~= #text and not self.is_head then
      mistake(("%s: the body has %d bytes, and 'content-length' says %d"):format(SERVE, #text,
        length))
    end
    if not (self.is_head and length) then made["content-length"] = tostring(#text) end
  end
  if allows and text ~= "" and not rawget(made, "content-type") then
    made["content-type"] = "text/plain; charset=utf-8"
  end
  local sent = allows and not self.is_head and text or nil
  return responses.write_head(self, status, made, sent, SERVE)
end

local ANSWER = { "body", "file", "headers", "status" }
local IS_ANSWER = {}
for _, name in ipairs(ANSWER) do IS_ANSWER[name] = true end

-- Answers with a table of fields.
function responses.answer(self, answer)
  for name in pairs(answer) do
    if not IS_ANSWER[name] then
      mistake(("%s: a response has no field '%s'"):format(SERVE, tostring(name)),
        spelling.hint(tostring(name), ANSWER, "its fields are"))
    end
  end
  if answer.file == nil then
    return responses.finish(self, answer.status or 200, answer.body or "", answer.headers)
  end
  if type(answer.file) ~= "string" or answer.body ~= nil then
    mistake(SERVE .. ": 'file' of a response must be a path, and the only body")
  end
  local sent, status, problem = files.send(responses, self, answer)
  if sent then return end
  if status == 500 then
    mistake(("%s: the file '%s' cannot be sent: %s"):format(SERVE, answer.file, problem))
  end
  responses.finish(self, status, REASONS[status]:lower() .. "\n")
end

-- The handler has failed in Lua's way: nil and a message.
local function fail(problem)
  mistake(("%s: the handler failed: %s"):format(SERVE, tostring(problem)))
end

--- Ends the response with what the handler returned: a body; a status, a body and headers; or a
--- table { status, headers, body or file }.
function responses.complete(self, first, text, headers)
  if self.is_upgraded then return end
  local kind = type(first)
  if self.is_started then
    if self.has_failed then return responses.abort(self) end
    if first == nil and text ~= nil then fail(text) end
    if kind == "string" or kind == "number" or kind == "function" or kind == "table" then
      mistake(SERVE .. ": a body was returned after the response was started",
        "; send it with response:send")
    end
    return finish_parts(self)
  end
  if kind == "string" and text == nil and first ~= "" then return finish_text(self, 200, first) end
  if kind == "table" then return responses.answer(self, first) end
  if kind == "string" or kind == "function" then
    check_second(text)
    return responses.finish(self, 200, first, nil)
  end
  if first == nil and text ~= nil then fail(text) end
  if kind == "number" and text == nil and (math.type(first) ~= "integer" or first < 100) then
    mistake(("%s: a number alone is a status, got %s"):format(SERVE, first),
      ("; as a body it comes second: return 200, %s"):format(first))
  end
  if first ~= nil and kind ~= "number" then
    mistake(("%s: a handler must return a body, a status or a table, got %s"):format(SERVE,
      host.given(first)))
  end
  return responses.finish(self, first or 204, text or "", headers)
end

return responses
