-- Heads of HTTP/1.1 messages on a stream, read within limits. Malformed input returns nil, message,
-- "EBADMSG"; input over a limit returns "EMSGSIZE".
local ml = require "moonloop"
local fields = require "moonloop.http.fields"
local heads = require "moonloop.http.heads"

local message = {}

local HEAD_LIMIT <const> = 64 << 10
message.HEAD_LIMIT = HEAD_LIMIT

--- A deadline in this many seconds, as a function that returns the options of the next read or
--- write; nil: no limit. Called for each of them, so that all together stay within it; what it
--- returned last is good until then.
function message.deadline(seconds)
  local options = {}
  if not seconds then return function() return options end end
  local ends = ml.now() + seconds
  return function()
    local left = ends - ml.now()
    options.timeout = left > 0 and left or 0
    return options
  end
end

function message.malformed(text) return nil, text, "EBADMSG" end
local malformed = message.malformed

local function too_large() return nil, "the head is too large", "EMSGSIZE" end

-- What a read has returned, and the new rest, if it is within the bytes that are left.
local function within(left, text, problem, code)
  if not text and code ~= "EMSGSIZE" then return nil, problem, code end
  if not text or #text > left then return too_large() end
  return text, left - #text
end

--- Reads a line within the bytes that are left. Returns it and the new rest.
function message.read_line(stream, left, time)
  local line, rest, code = within(left, stream:read("L", time()))
  if not line then return nil, rest, code end
  local before, last = line:byte(-2, -1)
  if before == 13 and last == 10 then return line:sub(1, -3), rest end
  if (last or before) ~= 10 then return malformed "the head is incomplete" end
  return malformed "a line ends without a carriage return"
end

-- Reads the lines that have come, up to an empty one: most heads come whole. Returns their text and
-- the new rest.
local function read_lines(stream, left, options)
  return within(left, stream:read("h", options))
end

-- Reads fields up to the empty line into a table.
local function read_rest(stream, read, left, time, bare)
  while true do
    local text, rest, code = read_lines(stream, left, time())
    if not text then return nil, rest or "the head is incomplete", code or "EBADMSG" end
    left = rest
    local is_over, mistake = heads.fields(text, 1, read, bare)
    if mistake then return malformed(mistake) end
    if is_over then return read end
  end
end

--- Reads fields up to the empty line.
function message.read_fields(stream, left, time)
  return read_rest(stream, fields.new(), left, time)
end

-- RFC 3986, 3.2.2: a name, or an address that has brackets if it is one of IPv6; then a port.
local function is_host(host)
  if host:find "^[%w%-.]+$" or host:find "^[%w%-.]+:%d?%d?%d?%d$" then return true end  -- most are
  local name, port = host:match "^(.-):(%d*)$"
  if port and (tonumber(port) or 0) > 65535 then return false end
  name = name or host
  return name:find "^%[[%x:.]+%]$" ~= nil or not name:find "[^%w%-._~%%!$&'()*+,;=]"
end

-- The forms of RFC 9112, 3.2: a path or a URL; for OPTIONS also "*", for CONNECT a host and port.
local function is_target(target, method)
  if method ~= "CONNECT" and target:find "^/[%w%-._~/?=&+]*$" then return true end  -- most are
  if target:gsub("%%%x%x", ""):find "[^%w%-._~:/?%[%]@!$&'()*+,;=]" then return false end
  if target:find("%00", 1, true) then return false end  -- no name has a zero byte
  if method == "CONNECT" then return target:find "^[^/?]+:%d+$" ~= nil and is_host(target) end
  if target == "*" then return method == "OPTIONS" end
  if target:find "^/" then return true end
  local scheme, authority = target:match "^(%a+)://([^/?]+)"
  if not scheme then return false end
  scheme = scheme:lower()
  return (scheme == "http" or scheme == "https") and is_host(authority)
end

-- What is wrong with a request whose head is well-formed; nil if it is right.
local function mistake_of(request)
  local headers = request.headers
  local host = headers.host
  if not is_target(request.target, request.method) then
    return ("'%s' is not a request target"):format(request.target:sub(1, 40))
  end
  if not host and request.version == "1.1" then return "'Host' is missing" end
  if host and not is_host(host) then return ("'%s' is not a host"):format(host:sub(1, 40)) end
  if request.version == "1.0" and rawget(headers, "transfer-encoding") then
    return "HTTP/1.0 has no Transfer-Encoding"
  end
end

--- Reads a request's head: { method, target, version, headers }, and `path` and `query_text` where
--- the target needs no decoding. Returns it and whether it has no body and keeps the connection, if
--- that is plain from the head; only nil if the peer closed.
-- `idle` has the options for reading the first line, `time` limits the wait for the rest.
function message.read_request(stream, limit, idle, time)
  limit = limit or HEAD_LIMIT
  local text, left, code = read_lines(stream, limit, idle)
  if text == "\r\n" then  -- an empty line before a request is allowed
    text, left, code = read_lines(stream, limit, idle)
  end
  if not text then return nil, left, code end
  local request, is_over, is_plain, is_simple = heads.request(text, fields.meta)
  if is_plain then return request, is_simple end
  if not request then return malformed(is_over) end
  if not is_over then
    local headers, problem, why = read_rest(stream, request.headers, left, message.deadline(time))
    if not headers then return nil, problem, why end
  end
  local problem = mistake_of(request)
  if problem then return malformed(problem) end
  if request.method == "CONNECT" then return nil, "CONNECT asks for a proxy", "ENOTSUP" end
  return request, false
end

--- Reads a response's head: { status, reason, version, headers }; or nil, message, code. The fourth
--- result says that nothing of it has come; there is no message if the server has closed.
-- Here a line feed alone ends a line too.
function message.read_response(stream, limit, time)
  local text, left, code = read_lines(stream, limit or message.HEAD_LIMIT, time())
  if not text then return nil, left, code or "ECONNRESET", true end
  local line, first = text:match "^([^\n]-)\r?\n()"
  if not line then return malformed "the head is incomplete" end
  local version, status, reason = line:match "^HTTP/(%d%.%d) ([1-9]%d%d)%f[ \0] ?(.*)$"
  if not version then return malformed(("'%s' is not a response"):format(line:sub(1, 40))) end
  local headers, problem, why = fields.new(), nil, nil
  local is_over, mistake = heads.fields(text, first, headers, true)
  if mistake then return malformed(mistake) end
  if not is_over then headers, problem, why = read_rest(stream, headers, left, time, true) end
  if not headers then return nil, problem, why end
  return { status = math.tointeger(tonumber(status)), reason = reason, version = version,
    headers = headers }
end

--- Whether the connection stays open after a message.
function message.keeps_alive(one)
  local connection = rawget(one.headers, "connection")
  if one.version == "1.0" then return fields.has(connection, "keep-alive") end
  return not fields.has(connection, "close")
end

return message
