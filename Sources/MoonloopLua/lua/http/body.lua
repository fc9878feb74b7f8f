-- Bodies: how long they are, read in parts and whole, and written in chunks.
local ml = require "moonloop"
local host = require "moonloop.text.host"
local message = require "moonloop.http.message"

local body = {}

body.LIMIT = 16 << 20
-- Bytes that the lines of chunks may have, besides their sizes, in one body.
local EXTENSIONS_LIMIT = 64 << 10

local malformed = message.malformed

--- How a body ends: "chunked", a length, or "close" (with the stream).
function body.framing(headers, is_request)
  local encoding = rawget(headers, "transfer-encoding")
  local length = rawget(headers, "content-length")
  if encoding then
    if length then return malformed "both Transfer-Encoding and Content-Length are given" end
    if encoding:lower() ~= "chunked" then
      return nil, ("transfer encoding '%s' is not supported"):format(encoding:sub(1, 40)), "ENOTSUP"
    end
    return "chunked"
  end
  if length then
    if not length:find "^%d+$" or #length > 15 then
      return malformed(("Content-Length '%s' is not a number"):format(length:sub(1, 40)))
    end
    return math.tointeger(tonumber(length))
  end
  return is_request and 0 or "close"
end

-- The size of the next chunk; 0 after the last one, with its trailer.
local function read_size(stream, left, time)
  local line, rest, code = message.read_line(stream, left, time)
  if not line then
    if code == "EMSGSIZE" then return nil, "the lines of chunks are too long", code end
    return nil, rest or "the body is incomplete", code or "EBADMSG"
  end
  local digits, extension = line:match "^(%x+)(.*)$"
  local is_right = digits and #digits <= 12
    and (extension == "" or extension:find "^[ \t]*;[^%z\1-\8\10-\31\127]*$")
  if not is_right then return malformed(("'%s' is not a chunk size"):format(line:sub(1, 40))) end
  local size = math.tointeger(tonumber(digits, 16))
  if size == 0 then
    local rest = message.deadline(time().timeout)  -- for the trailer as a whole
    local trailer, why, kind = message.read_fields(stream, message.HEAD_LIMIT, rest)
    if not trailer then return nil, why, kind end
  end
  return size, rest
end

-- A function that gives the content of chunks.
local function chunks(stream, limit, time)
  local left, lines, open, is_over = limit, EXTENSIONS_LIMIT, 0, false
  return function(most)
    if is_over then return nil end
    if open == 0 then
      local size, rest, code = read_size(stream, lines, time)
      if not size then return nil, rest, code end
      if size > left then return nil, "the body is too large", "EMSGSIZE" end
      open, lines, left, is_over = size, rest, left - size, size == 0
      if is_over then return nil end
    end
    local part, problem, code = stream:read_some(math.min(open, most), time())
    if not part then return nil, problem or "the body is incomplete", code or "EBADMSG" end
    open = open - #part
    if open == 0 then
      local ending, why, kind = stream:read(2, time())
      if ending ~= "\r\n" then
        return nil, why or "a chunk is longer than its size", kind or "EBADMSG"
      end
    end
    return part
  end
end

local function counted(stream, length, limit, time)
  local left = length
  return function(most)
    if left == 0 then return nil end
    if length > limit then return nil, "the body is too large", "EMSGSIZE" end
    local part, problem, code = stream:read_some(math.min(left, most), time())
    if not part then return nil, problem or "the body is incomplete", code or "EBADMSG" end
    left = left - #part
    return part
  end
end

local function closed(stream, limit, time)
  local left = limit
  return function(most)
    local part, problem, code = stream:read_some(most, time())
    if not part then return nil, problem, code end
    left = left - #part
    if left < 0 then return nil, "the body is too large", "EMSGSIZE" end
    return part
  end
end

local WAYS = { chunked = chunks, close = closed }

local function nothing() end

--- A function that reads a body: each call returns the next part, of at most this size (65536);
--- nil at the end, or nil, message, code, from then on.
function body.parts(stream, framing, limit, time)
  if framing == 0 then return nothing end
  limit = limit or body.LIMIT
  local way = WAYS[framing]
  local read = way and way(stream, limit, time) or counted(stream, framing, limit, time)
  local failure
  return function(most)
    if failure then return nil, table.unpack(failure) end
    local part, problem, code = read(most or 65536)
    if not part then failure = { problem, code } end
    return part, problem, code
  end
end

--- Raises an error at the script's line unless this can be the most that a read gives.
function body.check_most(object, most)
  if most == nil or type(most) == "number" and math.tointeger(most) and most > 0 then return end
  host.mistake(("%s:read: takes the maximum number of bytes, got %s"):format(object,
    host.given(most)))
end

--- Reads the rest of a body.
function body.read(parts)
  local read = {}
  while true do
    local part, problem, code = parts()
    if not part then
      if problem then return nil, problem, code end
      return table.concat(read)
    end
    read[#read + 1] = part
  end
end

function body.chunk(data) return ("%x\r\n%s\r\n"):format(#data, data) end

body.LAST_CHUNK = "0\r\n\r\n"

-- The next part, within a limit.
local function next_part(source, limit)
  if limit then return ml.timeout(limit, source) end
  return source()
end

--- Writes a body that a function gives part by part: of an announced length, or in chunks if that
--- is nil. Each write waits while the peer reads more slowly.
-- @return true; or nil, message, code, and whether the body has failed, not the stream
function body.write(stream, source, length, time)
  local left = length
  while true do
    local part, problem, code = next_part(source, time().timeout)
    if part == nil then
      if problem ~= nil then return nil, tostring(problem), code, true end
      break
    end
    part = tostring(part)
    if left then left = left - #part end
    if left and left < 0 then break end
    if part ~= "" then
      local ok, why, kind = stream:write(left and part or body.chunk(part), time())
      if not ok then return nil, why, kind end
    end
  end
  if not left then return stream:write(body.LAST_CHUNK, time()) end
  if left == 0 then return true end
  return nil, ("the body is %s than 'content-length' says"):format(
    left > 0 and "shorter" or "longer"), "EMSGSIZE", true
end

return body
