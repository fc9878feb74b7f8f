-- Bridge: what arrives on a TCP port is published in Redis
-- One connection to Redis for all clients: a channel of the loop collects their lines, one task
-- writes them. A full channel makes the clients wait.
--
--   moonloop run redis_bridge.lua 7000 6379 news          and then: echo hello | nc 127.0.0.1 7000
local ml = require "moonloop"
local loop = ml.current()

local port, redis_port, topic = tonumber(arg[1]) or 0, tonumber(arg[2]) or 6379, arg[3] or "news"
local lines = ml.channel(100)

local function command(...)               -- Redis takes a command as a list of sized strings
  local parts = { ("*%d\r\n"):format(select("#", ...)) }
  for _, word in ipairs { ... } do parts[#parts + 1] = ("$%d\r\n%s\r\n"):format(#word, word) end
  return table.concat(parts)
end

loop:task({ name = "publisher" }, function()
  local redis <close> = assert(ml.net.connect {
    host = "127.0.0.1", port = redis_port, timeout = 5 })
  for line in lines:items() do
    assert(redis:write(command("PUBLISH", topic, line)))
    local answer = assert(redis:read("L", { timeout = 5 }))
    print(("%q, subscribers: %s"):format(line, answer:match "%d+"))
    io.flush()
  end
end)

local server = assert(ml.net.listen { host = "127.0.0.1", port = port, timeout = 60,
  function(stream)
    for line in stream:lines() do
      lines:send(line)
      stream:write "ok\n"
    end
  end })
print("port " .. server.port)
loop:signal({ "int", "term" }, function() loop:stop() end):keep_alive(false)
