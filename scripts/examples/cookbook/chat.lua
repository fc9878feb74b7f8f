-- A chat server: what one sends, all others get
-- Each connection has a task that reads. A client that does not read is dropped when its queue is
-- full: it never makes the others wait.
--
--   moonloop run chat.lua 7000          and then, in several terminals: nc 127.0.0.1 7000
local ml = require "moonloop"
local loop = ml.current()

local clients = {}

local function tell(text, sender)
  for stream, name in pairs(clients) do
    if stream ~= sender then
      if stream.queued > 65536 then
        print(name .. " does not read")
        stream:invalidate()
      else
        loop:task(function() stream:write(text, "\n") end)
      end
    end
  end
end

local server = assert(ml.net.listen { host = "127.0.0.1", port = tonumber(arg[1]) or 0,
  name = "chat", timeout = 600, line_limit = 4096, function(stream)
    stream:write "Your name?\n"
    local name = stream:read "l"
    if not name then return end
    clients[stream] = name
    tell(name .. " is here")
    for line in function() return (stream:read "l") end do tell(name .. ": " .. line, stream) end
    clients[stream] = nil
    tell(name .. " has left")
  end })
print("port " .. server.port)
loop:signal({ "int", "term" }, function() loop:stop() end):keep_alive(false)
