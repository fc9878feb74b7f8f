-- Heads of HTTP/1.1 messages on a stream, read within limits. Malformed input returns nil, message,
-- "EBADMSG"; input over a limit returns "EMSGSIZE".
local ml = require "moonloop"
local fields = require "moonloop.http.fields"

local message = {}

message.HEAD_LIMIT = 64 << 10

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

--- Reads a line within the bytes that are left. Returns it and the new rest.
-- @param bare whether a line feed alone ends it too: if two readers differ in that, one can be
-- shown a request that the other does not see
function message.read_line(stream, left, time, bare)
  local line, problem, code = stream:read("L", time())
  if not line then
    if code == "EMSGSIZE" then return nil, "the head is too large", "EMSGSIZE" end
    return nil, problem, code
  end
  left = left - #line
  if left < 0 then return nil, "the head is too large", "EMSGSIZE" end
  local before, last = line:byte(-2, -1)
  if before == 13 and last == 10 then return line:sub(1, -3), left end
  if (last or before) ~= 10 then return malformed "the head is incomplete" end
  if not bare then return malformed "a line ends without a carriage return" end
  return line:sub(1, -2), left
end

--- Reads fields up to the empty line.
function message.read_fields(stream, left, time, bare)
  local read = fields.new()
  while true do
    local line, rest, code = message.read_line(stream, left, time, bare)
    if not line then return nil, rest or "the head is incomplete", code or "EBADMSG" end
    left = rest
    if line == "" then return read end
    local mistake = fields.add(read, line)
    if mistake then return malformed(mistake) end
  end
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

--- Reads a request's head: { method, target, version, headers }. Returns only nil if the peer
--- closed.
-- `idle` limits the wait for the first line, `time` that for the rest.
function message.read_request(stream, limit, idle, time)
  local line, left, code
  for _ = 1, 2 do  -- an empty line before a request is allowed
    line, left, code = message.read_line(stream, limit or message.HEAD_LIMIT, idle)
    if line ~= "" then break end
  end
  if not line then return nil, left, code end
  local method, target, version = line:match "^([%u%d%-_]+) ([^ %c]+) HTTP/(%d%.%d)$"
  if not method then return malformed(("'%s' is not a request"):format(line:sub(1, 40))) end
  local headers, problem, why = message.read_fields(stream, left, message.deadline(time))
  if not headers then return nil, problem, why end
  local request = { method = method, target = target, version = version, headers = headers }
  problem = mistake_of(request)
  if problem then return malformed(problem) end
  if method == "CONNECT" then return nil, "CONNECT asks for a proxy", "ENOTSUP" end
  return request
end

--- Reads a response's head: { status, reason, version, headers }; or nil, message, code. The fourth
--- result says that nothing of it has come; there is no message if the server has closed.
function message.read_response(stream, limit, time)
  local line, left, code = message.read_line(stream, limit or message.HEAD_LIMIT, time, true)
  if not line then return nil, left, code or "ECONNRESET", true end
  local version, status, reason = line:match "^HTTP/(%d%.%d) ([1-9]%d%d)%f[ \0] ?(.*)$"
  if not version then return malformed(("'%s' is not a response"):format(line:sub(1, 40))) end
  local headers, problem, why = message.read_fields(stream, left, time, true)
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
