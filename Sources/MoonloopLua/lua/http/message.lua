-- HTTP/1.1 messages on a stream: heads and bodies, read within limits. Malformed input returns nil,
-- message, "EBADMSG"; input over a limit returns "EMSGSIZE".
local ml = require "moonloop"

local message = {}

message.HEAD_LIMIT = 64 << 10
message.BODY_LIMIT = 16 << 20

-- The fields of a head. Names are lower case; lookups ignore case.
local Headers = {}
Headers.__index = function(fields, name)
  return type(name) == "string" and rawget(fields, name:lower()) or nil
end

function message.headers(fields)
  if fields ~= nil and type(fields) ~= "table" then
    error("http: the headers must be a table, got a " .. type(fields), 0)
  end
  local headers = setmetatable({}, Headers)
  for name, value in pairs(fields or {}) do headers[tostring(name):lower()] = value end
  return headers
end

--- A deadline in this many seconds, as a function that returns the options of the next read or
--- write; nil: no limit. Called for each of them, so that all together stay within it.
function message.deadline(seconds)
  if not seconds then return function() return {} end end
  local ends = ml.now() + seconds
  return function() return { timeout = math.max(0, ends - ml.now()) } end
end

local function malformed(text) return nil, text, "EBADMSG" end

-- Reads a line of a head within the bytes that are left. Returns it and the new rest.
local function read_line(stream, left, time)
  local line, problem, code = stream:read("L", time())
  if not line then
    if code == "EMSGSIZE" then return nil, "the head is too large", "EMSGSIZE" end
    return nil, problem, code
  end
  left = left - #line
  if left < 0 then return nil, "the head is too large", "EMSGSIZE" end
  if line:sub(-1) ~= "\n" then return malformed "the head is incomplete" end
  return line:sub(1, line:sub(-2, -2) == "\r" and -3 or -2), left
end

local function read_fields(stream, left, time)
  local headers = setmetatable({}, Headers)
  while true do
    local line, rest, code = read_line(stream, left, time)
    if not line then return nil, rest or "the head is incomplete", code or "EBADMSG" end
    left = rest
    if line == "" then return headers end
    local name, value = line:match "^([!#$%%&'*+%-.^_`|~%w]+):[ \t]*(.-)[ \t]*$"
    if not name or value:find "[%z\1-\8\10-\31\127]" then
      return malformed(("'%s' is not a header field"):format(line:sub(1, 40)))
    end
    name = name:lower()
    local before = rawget(headers, name)
    if before and name == "host" then return malformed "'Host' is given twice" end
    headers[name] = before and before .. (name == "cookie" and "; " or ", ") .. value or value
  end
end

-- The forms of RFC 9112, 3.2: a path or a URL; for OPTIONS also "*", for CONNECT a host and port.
local function is_target(target, method)
  if target:gsub("%%%x%x", ""):find "[^%w%-._~:/?%[%]@!$&'()*+,;=]" then return false end
  if method == "CONNECT" then return target:find "^[^/?]+:%d+$" ~= nil end
  if target == "*" then return method == "OPTIONS" end
  return target:find "^/" ~= nil or target:find "^%a[%w+.-]*://[^/?]+" ~= nil
end

-- RFC 3986, 3.2.2: a name, or an address that has brackets if it is one of IPv6; then a port.
local function is_host(host)
  local name = host:match "^(.-):%d*$" or host
  return name:find "^%[[%x:.]+%]$" ~= nil or not name:find "[^%w%-._~%%!$&'()*+,;=]"
end

-- What is wrong with a request whose head is well-formed; nil if it is right.
local function mistake_of(request)
  local host = request.headers.host
  if not is_target(request.target, request.method) then
    return ("'%s' is not a request target"):format(request.target:sub(1, 40))
  end
  if not host and request.version == "1.1" then return "'Host' is missing" end
  if host and not is_host(host) then return ("'%s' is not a host"):format(host:sub(1, 40)) end
end

-- Reads a request's head: { method, target, version, headers }. Returns only nil if the peer
-- closed.
-- `idle` limits the wait for the first line, `time` that for the rest.
function message.read_request(stream, limit, idle, time)
  local line, left, code
  for _ = 1, 2 do  -- an empty line before a request is allowed
    line, left, code = read_line(stream, limit or message.HEAD_LIMIT, idle)
    if line ~= "" then break end
  end
  if not line then return nil, left, code end
  local method, target, version = line:match "^([%u%d%-_]+) ([^ %c]+) HTTP/(%d%.%d)$"
  if not method then return malformed(("'%s' is not a request"):format(line:sub(1, 40))) end
  local headers, problem, why = read_fields(stream, left, message.deadline(time))
  if not headers then return nil, problem, why end
  local request = { method = method, target = target, version = version, headers = headers }
  problem = mistake_of(request)
  if problem then return malformed(problem) end
  return request
end

-- Reads a response's head: { status, reason, version, headers }.
function message.read_response(stream, limit, time)
  local line, left, code = read_line(stream, limit or message.HEAD_LIMIT, time)
  if not line then return nil, left or "the peer has closed", code or "ECONNRESET" end
  local version, status, reason = line:match "^HTTP/(%d%.%d) (%d%d%d) ?(.*)$"
  if not version then return malformed(("'%s' is not a response"):format(line:sub(1, 40))) end
  local headers, problem, why = read_fields(stream, left, time)
  if not headers then return nil, problem, why end
  return { status = math.tointeger(tonumber(status)), reason = reason, version = version,
    headers = headers }
end

-- The framing of a body: "chunked", a length, or "close" (up to the end of the stream).
function message.framing(headers, is_request)
  local encoding, length = headers["transfer-encoding"], headers["content-length"]
  if encoding then
    if length then return malformed "both Transfer-Encoding and Content-Length are given" end
    if encoding:lower() ~= "chunked" then
      return nil, ("transfer encoding '%s' is not supported"):format(encoding), "ENOTSUP"
    end
    return "chunked"
  end
  if length then
    local first = length:match "^%s*(%d+)%s*$"
    if not first or #first > 15 then
      return malformed(("Content-Length '%s' is not a number"):format(length:sub(1, 40)))
    end
    return math.tointeger(tonumber(first))
  end
  return is_request and 0 or "close"
end

-- Reads the next chunk; "" is the last one, with its trailer.
local function read_chunk(stream, left, time)
  local line, problem, code = read_line(stream, 4096, time)
  if not line then return nil, problem or "the body is incomplete", code or "EBADMSG" end
  local digits = line:match "^(%x+)[ \t]*$" or line:match "^(%x+)[ \t]*;"
  if not digits or #digits > 12 then
    return malformed(("'%s' is not a chunk size"):format(line:sub(1, 40)))
  end
  local size = tonumber(digits, 16)
  if size == 0 then
    local trailer, why, kind = read_fields(stream, message.HEAD_LIMIT, time)
    if not trailer then return nil, why, kind end
    return ""
  end
  if size > left then return nil, "the body is too large", "EMSGSIZE" end
  local data, why, kind = stream:read(size, time())
  if not data or #data < size then
    return nil, why or "the body is incomplete", kind or "EBADMSG"
  end
  local ending = read_line(stream, 2, time)
  if ending ~= "" then return malformed "a chunk is longer than its size" end
  return data
end

-- An iterator over the parts of a body. Each call returns a part; nil at the end; or nil, message,
-- code.
function message.parts(stream, framing, limit, time)
  local left = limit or message.BODY_LIMIT
  if framing == "chunked" then
    local is_over = false
    return function()
      if is_over then return nil end
      local part, problem, code = read_chunk(stream, left, time)
      if not part then return nil, problem, code end
      is_over = part == ""
      if is_over then return nil end
      left = left - #part
      return part
    end
  end
  local expected = framing
  return function()
    if expected == 0 then return nil end
    if expected ~= "close" and expected > left then
      return nil, "the body is too large", "EMSGSIZE"
    end
    local most = expected == "close" and 65536 or math.min(expected, 65536)
    local part, problem, code = stream:read_some(most, time())
    if not part then
      if problem or expected == "close" then return nil, problem, code end
      return malformed "the body is incomplete"
    end
    left = left - #part
    if left < 0 then return nil, "the body is too large", "EMSGSIZE" end
    if expected ~= "close" then expected = expected - #part end
    return part
  end
end

-- Reads a whole body.
function message.read_body(stream, framing, limit, time)
  local parts, next_part = {}, message.parts(stream, framing, limit, time)
  while true do
    local part, problem, code = next_part()
    if problem then return nil, problem, code end
    if not part then return table.concat(parts) end
    parts[#parts + 1] = part
  end
end

local function field_line(name, value)
  local kind = type(value)
  if kind ~= "string" and kind ~= "number" then
    error(("http: the field '%s' must be a string, a number or a list of them, got a %s")
      :format(name, kind), 0)
  end
  value = tostring(value)
  if not name:find "^[!#$%%&'*+%-.^_`|~%w]+$" or value:find "[\0-\8\10-\31\127]" then
    error(("http: the field %q: %q would break the head"):format(name, value), 0)
  end
  return name .. ": " .. value
end

-- The lines of a head, sorted by field name; a list makes a line for each element. Raises an error
-- for values that would break the head.
function message.head(first, headers)
  local names, lines = {}, { first }
  for name in pairs(headers) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local value = headers[name]
    for _, one in ipairs(type(value) == "table" and value or { value }) do
      lines[#lines + 1] = field_line(name, one)
    end
  end
  return table.concat(lines, "\r\n") .. "\r\n\r\n"
end

function message.chunk(data)
  return ("%x\r\n%s\r\n"):format(#data, data)
end

return message
