-- The protocol of Redis (RESP3) on a stream. What is read comes from outside: all of it is checked.
local ml = require "moonloop"
local url = require "moonloop.http.url"

local redis = {}

local ODD = "the broker's answer does not match the question"

-- Limits of a reply: bytes of its texts, elements, and how deep.
local TEXT_LIMIT, COUNT_LIMIT, DEPTH_LIMIT = 64 << 20, 1 << 20, 16
-- Codes by the first word of an error reply; "EAGAIN": it passes.
local CODES = { LOADING = "EAGAIN", BUSY = "EAGAIN", MASTERDOWN = "EAGAIN", TRYAGAIN = "EAGAIN",
  NOAUTH = "EACCES", WRONGPASS = "EACCES", NOPERM = "EACCES", WRONGTYPE = "EINVAL",
  OOM = "ENOSPC", MISCONF = "EIO", READONLY = "EROFS", NOPROTO = "EPROTONOSUPPORT" }

--- A command as bytes; its words are strings and numbers.
function redis.command(words)
  local parts = { ("*%d\r\n"):format(#words) }
  for place, word in ipairs(words) do
    word = tostring(word)
    parts[place + 1] = ("$%d\r\n%s\r\n"):format(#word, word)
  end
  return table.concat(parts)
end

-- Raised as a table: what ends the connection. Time may run out without harm only before the first
-- byte of a reply.
local function broken(message, code, has_begun)
  if code == "ETIMEDOUT" and has_begun then code = "EPIPE" end
  error({ message = message or "the broker has closed the connection", code = code or "EPIPE" }, 0)
end

local function malformed(line)
  broken(("the reply does not follow the Redis protocol: %q"):format(line:sub(1, 40)), "EBADMSG")
end

-- @param room `left`, `count`: bytes of texts and elements that the reply may still have
local function read_text(stream, size, options, room)
  room.left = room.left - size
  if room.left < 0 then broken("the reply is too large", "EMSGSIZE") end
  local text, message, code = stream:read(size + 2, options)
  if not text or #text < size + 2 then broken(message, code, true) end
  if text:sub(-2) ~= "\r\n" then malformed(text:sub(-40)) end
  return text:sub(1, size)
end

-- False stands for null; an error reply is a table with its words as `failure`.
local function read_value(stream, depth, options, room)
  local line, message, code = stream:read("L", options)
  if not line then broken(message, code, depth > 1) end
  local sign, rest = line:match "^([-+:$*%%~>_,#])([^\r]*)\r\n$"
  if not sign then malformed(line) end
  if sign == "+" or sign == "," then return rest end
  if sign == "-" then return { failure = rest } end
  if sign == "_" then return false end
  if sign == "#" then return rest == "t" end
  local number = rest:find "^-?%d+$" and math.tointeger(tonumber(rest)) or malformed(line)
  if sign == ":" then return number end
  if number == -1 then return false end
  if number < 0 then malformed(line) end
  if sign == "$" then return read_text(stream, number, options, room) end
  if sign == "%" then number = 2 * number end
  room.count = room.count - number
  if room.count < 0 or depth > DEPTH_LIMIT then broken("the reply is too large", "EMSGSIZE") end
  local list = { is_push = sign == ">" }
  for place = 1, number do list[place] = read_value(stream, depth + 1, options, room) end
  return list
end

--- Reads one reply: the value; or nil, message, code when the connection is of no more use.
function redis.read(stream, options)
  local room = { left = TEXT_LIMIT, count = COUNT_LIMIT }
  local ok, value = pcall(read_value, stream, 1, options, room)
  if ok then return value end
  if type(value) ~= "table" or not value.message then error(value, 0) end
  return nil, value.message, value.code
end

--- A reply as a value, or as nil, message, code if it is an error.
function redis.value(reply, message, code)
  local failure = type(reply) == "table" and reply.failure
  if not failure then return reply, message, code end
  return nil, "the broker refuses: " .. failure:sub(1, 200), CODES[failure:match "^%u+"] or "EPROTO"
end

--- One command and its reply; or nil, message, code.
function redis.ask(stream, options, ...)
  stream:write(redis.command { ... })
  return redis.value(redis.read(stream, options))
end

--- A reply that must be of a type; else nil, message, code.
function redis.typed(reply, kind)
  if type(reply) == kind then return reply end
  return nil, ODD, "EBADMSG"
end

--- The reply to TIME, in seconds since 1970; or nil, message, code.
function redis.seconds(time, message, code)
  if time == nil then return nil, message, code end
  local seconds = type(time) == "table" and tonumber(time[1])
  return redis.typed(seconds and tonumber(time[2]) and seconds + time[2] / 1e6, "number")
end

local function are_texts(list)
  if type(list) ~= "table" then return not list end
  for _, one in ipairs(list) do
    if type(one) ~= "string" then return false end
  end
  return true
end

--- The entries of a stream, if a reply is that; else nil, message, code.
function redis.entries(reply)
  for _, raw in ipairs(type(reply) == "table" and reply or {}) do
    if type(raw) ~= "table" or type(raw[1]) ~= "string" or not are_texts(raw[2]) then
      return nil, ODD, "EBADMSG"
    end
  end
  return redis.typed(reply, "table")
end

--- The parts of redis://user:password@host:port/database, or redis+unix://%2Fpath/database.
function redis.parse_url(text)
  local scheme, login, place, database = text:match "^([%w+]+)://(.-)([^/@]+)/?(%d*)$"
  local is_unix = scheme == "redis+unix"
  if not is_unix and scheme ~= "redis" or not (login == "" or login:find "^[^/@]*@$") then
    return nil, "write redis://host, redis://host:port or redis+unix://%2Fpath%2Fof%2Fsocket"
  end
  local user, password = login:match "^([^:]*):?(.-)@$"
  local found = { user = user ~= "" and user and url.unescape(user) or "default",
    password = password and password ~= "" and url.unescape(password) or nil,
    database = tonumber(database) or 0, path = is_unix and url.unescape(place) or nil }
  if is_unix then return found end
  local host, port = place:match "^%[([%x:.]+)%]:?(%d*)$"
  if not host then host, port = place:match "^([^:]+):?(%d*)$" end
  found.host, found.port = host, tonumber(port) or 6379
  if not host or found.port > 65535 or found.port == 0 then
    return nil, ("'%s' is not a host and a port"):format(place)
  end
  return found
end

--- A connection that has logged in; or nil, message, code.
-- @param options `timeout` for all of it, `name`, `modes`
function redis.open(place, options)
  local ends = ml.now() + options.timeout
  local stream, message, code = ml.net.connect { host = place.host, port = place.port,
    path = place.path, timeout = options.timeout, name = options.name, modes = options.modes,
    keepalive = not place.path and 60 or nil, line_limit = 4096, buffer_limit = TEXT_LIMIT + 2,
    write_limit = TEXT_LIMIT }
  if not stream then return nil, message, code end
  stream:keep_alive(false)
  local words, reply = { "HELLO", 3 }, nil
  -- A port that is closed meanwhile ends this where it waits.
  local _ <close> = setmetatable({}, { __close = function()
    if not reply then stream:invalidate() end
  end })
  if place.password then words = { "HELLO", 3, "AUTH", place.user, place.password } end
  local within = { timeout = math.max(0.01, ends - ml.now()) }
  reply, message, code = redis.ask(stream, within, table.unpack(words))
  if reply and place.database > 0 then
    reply, message, code = redis.ask(stream, within, "SELECT", place.database)
  end
  if reply then return stream end
  return nil, message, code
end

return redis
