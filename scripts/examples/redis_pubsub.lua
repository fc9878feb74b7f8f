-- Redis over streams: its protocol in forty lines, one task that listens and one that publishes.
--   moonloop run redis_pubsub.lua [PORT|SOCKET] [CHANNEL]
local ml = require "moonloop"
local loop = ml.current()

local where, channel = arg[1] or "6379", arg[2] or "news"

local function connect()
  local port = math.tointeger(tonumber(where))
  local place = port and { host = "127.0.0.1", port = port } or { path = where }
  place.timeout = 2
  return assert(ml.net.connect(place))
end

-- Writes a command as an array of strings.
local function send(stream, ...)
  local parts = { ("*%d\r\n"):format(select("#", ...)) }
  for _, word in ipairs { ... } do
    word = tostring(word)
    parts[#parts + 1] = ("$%d\r\n%s\r\n"):format(#word, word)
  end
  return assert(stream:write(table.concat(parts)))
end

-- Reads one value: a string, an integer, a list, nil; an error is raised.
---@return any
local function receive(stream)
  local line = assert(stream:read("L", { timeout = 5 })):gsub("\r\n$", "")
  local kind, rest = line:sub(1, 1), line:sub(2)
  if kind == "+" then return rest end
  if kind == ":" then return math.tointeger(tonumber(rest)) end
  if kind == "-" then error("redis: " .. rest, 0) end
  local count = tonumber(rest)
  if count < 0 then return nil end
  if kind == "$" then return stream:read(count + 2):sub(1, count) end
  local list = { n = count }
  for i = 1, count do list[i] = receive(stream) end
  return list
end

local function call(stream, ...)
  send(stream, ...)
  return receive(stream)
end

local subscribed = ml.channel(1)

loop:task({ name = "subscriber" }, function()
  local stream <close> = connect()
  local answer = call(stream, "SUBSCRIBE", channel)
  print(("subscribed to %s (%d)"):format(answer[2], answer[3]))
  subscribed:send(true)
  while true do
    local message = receive(stream)
    if message[1] == "message" then print(message[2] .. ": " .. message[3]) end
    if message[3] == "bye" then break end
  end
end)

loop:task({ name = "publisher" }, function()
  local stream <close> = connect()
  subscribed:receive()
  for _, text in ipairs { "hello", "two\r\nlines", "bye" } do
    local heard = call(stream, "PUBLISH", channel, text)
    if heard == 0 then print("nobody heard: " .. text) end
  end
end)
