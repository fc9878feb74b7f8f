-- Bridge: lines of a TCP port are published over MQTT, and what others publish is printed
--
--   moonloop run mqtt_bridge.lua 127.0.0.1:1883 birds 7000
--   echo owl | nc -q1 127.0.0.1 7000
-- MQTT 3.1.1 at QoS 0, which is a dozen lines of packets. The connection is made again if it ends;
-- what comes meanwhile waits, up to 100 lines.
local ml = require "moonloop"
local loop = ml.current()

local host, port = (arg[1] or "127.0.0.1:1883"):match "^(.*):(%d+)$"
local topic, listen_at = arg[2] or "birds", tonumber(arg[3]) or 0
local KEEP_ALIVE = 30

local CONNECT, CONNACK, PUBLISH, SUBSCRIBE, PING = 0x10, 0x20, 0x30, 0x82, 0xC0

-- A packet: its type, the length of the rest in groups of seven bits, the rest.
local function packet(kind, rest)
  local bytes, length = { string.char(kind) }, #rest
  repeat
    local low = length & 127
    length = length >> 7
    bytes[#bytes + 1] = string.char(low | (length > 0 and 128 or 0))
  until length == 0
  return table.concat(bytes) .. rest
end

local function read_packet(stream)
  local kind, length, shift = stream:read(1), 0, 0
  if not kind then return nil end
  repeat
    local byte = stream:read(1)
    if not byte or shift > 21 then return nil end
    length = length | (byte:byte() & 127) << shift
    shift = shift + 7
  until byte:byte() < 128
  return kind:byte(), length > 0 and stream:read(length) or ""
end

local lines = ml.channel(100)

-- Talks to the broker until the connection ends.
local function talk()
  local stream <close> = assert(ml.net.connect { host = host, port = math.tointeger(port),
    timeout = 5 })
  stream:write(packet(CONNECT, string.pack(">s2BBI2s2", "MQTT", 4, 2, KEEP_ALIVE, "bridge")))
  local kind, answer = read_packet(stream)
  assert(kind == CONNACK and answer and answer:byte(2) == 0, "the broker refuses the connection")
  stream:write(packet(SUBSCRIBE, string.pack(">I2s2B", 1, topic, 0)))
  local _ <close> = loop:task(function()
    while true do
      local line = ml.timeout(KEEP_ALIVE / 2, lines.receive, lines)
      stream:write(line and packet(PUBLISH, string.pack(">s2", topic) .. line) or packet(PING, ""))
    end
  end)
  local reader = function() return read_packet(stream) end
  for came, rest in reader do
    if came & 0xF0 == PUBLISH then
      local from, place = string.unpack(">s2", rest)
      print(from .. ": " .. rest:sub(place))
      io.stdout:flush()
    end
  end
end

local server = assert(ml.net.listen { host = "127.0.0.1", port = listen_at, function(stream)
  for line in stream:lines() do lines:send(line) end
end })
print("port " .. server.port)
io.stdout:flush()

loop:task(function()
  while true do
    local ok, why = pcall(talk)
    io.stderr:write("mqtt: ", ok and "the connection has ended" or tostring(why), "\n")
    ml.sleep(1)
  end
end)
loop:signal({ "int", "term" }, function() loop:stop() end):keep_alive(false)
