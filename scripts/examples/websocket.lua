-- WebSockets (RFC 6455) on an upgraded connection: a server that answers each message with itself,
-- in capitals, and passes it on to all others. Try a page with
--   new WebSocket("ws://127.0.0.1:8080/").onmessage = event => console.log(event.data)
-- The port is the first argument (8080); 0 takes a free one. A message "stop" ends it.
local ml = require "moonloop"
local loop = ml.current()

local LIMIT = 1 << 20  -- bytes of a message

-- What the handshake needs: SHA-1 and Base64 ---------------------------------------------------

local function rotate(x, n) return ((x << n) | (x >> (32 - n))) & 0xffffffff end

local function sha1(text)
  local h = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 }
  local padded = text .. "\128" .. ("\0"):rep((55 - #text) % 64) .. string.pack(">I8", #text * 8)
  for block = 1, #padded, 64 do
    local w = { string.unpack(">" .. ("I4"):rep(16), padded, block) }
    for i = 17, 80 do w[i] = rotate(w[i - 3] ~ w[i - 8] ~ w[i - 14] ~ w[i - 16], 1) end
    local a, b, c, d, e = table.unpack(h)
    for i = 1, 80 do
      local f, k
      if i <= 20 then f, k = (b & c) | (~b & d), 0x5a827999
      elseif i <= 40 then f, k = b ~ c ~ d, 0x6ed9eba1
      elseif i <= 60 then f, k = (b & c) | (b & d) | (c & d), 0x8f1bbcdc
      else f, k = b ~ c ~ d, 0xca62c1d6 end
      local sum = (rotate(a, 5) + (f & 0xffffffff) + e + k + w[i]) & 0xffffffff
      a, b, c, d, e = sum, a, rotate(b, 30), c, d
    end
    for i, x in ipairs { a, b, c, d, e } do h[i] = (h[i] + x) & 0xffffffff end
  end
  return string.pack(">I4I4I4I4I4", table.unpack(h))
end

local DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

local function base64(bytes)
  local made = (bytes .. ("\0"):rep(-#bytes % 3)):gsub("...", function(three)
    local n = string.unpack(">I3", three)
    return (("."):rep(4):gsub(".", function()
      local digit = n >> 18 & 63
      n = n << 6
      return DIGITS:sub(digit + 1, digit + 1)
    end))
  end)
  return made:sub(1, #made - -#bytes % 3) .. ("="):rep(-#bytes % 3)
end

-- Frames ----------------------------------------------------------------------------------------

local TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10

local function send(stream, kind, data)
  local length = #data < 126 and string.pack("B", #data) or #data < 65536
    and string.pack(">BI2", 126, #data) or string.pack(">BI8", 127, #data)
  return stream:write(string.char(128 | kind), length, data)
end

-- Reads a frame of a client, which is masked. Returns kind, data, whether it is the last of its
-- message; or nil and the status to close with (1002: not the protocol, 1009: too large).
---@return integer? kind, any data, boolean? is_last
local function read_frame(stream)
  local head = stream:read(2)
  if not head or #head < 2 then return nil end
  local first, second = head:byte(1, 2)
  if first & 0x70 ~= 0 or second < 128 then return nil, 1002 end
  local length = second & 127
  -- Frames of control are short, and whole.
  if first & 15 >= CLOSE and (length > 125 or first < 128) then return nil, 1002 end
  if length > 125 then
    local more = stream:read(length == 126 and 2 or 8) or ""
    if #more < 2 then return nil end
    length = string.unpack(length == 126 and ">I2" or ">i8", more)
  end
  if length < 0 or length > LIMIT then return nil, 1009 end
  local rest = stream:read(4 + length)
  if not rest or #rest < 4 + length then return nil end
  local mask, place = { rest:byte(1, 4) }, -1
  local data = rest:sub(5):gsub(".", function(c)
    place = place + 1
    return string.char(c:byte() ~ mask[place % 4 + 1])
  end)
  return first & 15, data, first >= 128
end

-- The status to answer a Close with.
local function closing(data)
  if data == "" then return 1000 end
  local status = #data > 1 and string.unpack(">I2", data) or 0
  local is_allowed = status >= 1000 and status <= 1014 and not (status >= 1004 and status <= 1006)
    or status >= 3000 and status <= 4999
  return is_allowed and status or 1002
end

-- The messages of a client, whole; pings are answered. Ends with the connection.
local function messages(stream)
  local function fail(status)
    if status then send(stream, CLOSE, string.pack(">I2", status)) end
  end
  return function()
    local parts, kind, size = {}, nil, 0
    while true do
      local code, data, is_last = read_frame(stream)
      if not code then return fail(data) end
      if code == CLOSE then return fail(closing(data)) end
      if code == PING then
        send(stream, PONG, data)
      elseif code ~= PONG then
        if (code == 0) ~= (kind ~= nil) or code > BINARY then return fail(1002) end
        kind, parts[#parts + 1], size = kind or code, data, size + #data
        if size > LIMIT or #parts > 1000 then return fail(1009) end
        if is_last then
          local message = table.concat(parts)
          if kind == TEXT and not utf8.len(message) then return fail(1007) end
          return message, kind
        end
      end
    end
  end
end

-- The server ------------------------------------------------------------------------------------

local open = {}

local function talk(stream)
  open[stream] = true
  for message, kind in messages(stream) do
    if message == "stop" then loop:stop() end
    send(stream, kind, message:upper())
    for other in pairs(open) do
      if other ~= stream and other.queued == 0 then send(other, kind, message) end
    end
  end
  open[stream] = nil
end

local server = assert(ml.http.serve {
  host = "127.0.0.1", port = tonumber(arg[1]) or 8080,
  function(request, response)
    local key = request.headers["sec-websocket-key"]
    if tostring(request.headers.upgrade):lower() ~= "websocket" or not key
      or request.headers["sec-websocket-version"] ~= "13" then
      return 426, "this is a WebSocket\n", { upgrade = "websocket", ["sec-websocket-version"] = 13 }
    end
    talk(response:upgrade("websocket", {
      ["sec-websocket-accept"] = base64(sha1(key .. "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")),
    }))
  end,
})

print("listening on port " .. server.port)
