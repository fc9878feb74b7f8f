-- A server: each connection has its own task, which reads and writes in plain sequence.
-- It prints the port it listens on, and ends when its input does, or after SIGTERM.
--
--   moonloop run echo_server.lua 7777
--   nc 127.0.0.1 7777
local ml = require "moonloop"
local loop = ml.current()

local port = tonumber(arg[1] or 0)
local served, messages = 0, 0

local server = assert(ml.net.listen { host = "127.0.0.1", port = port, name = "echo",
  timeout = 60, line_limit = 65536,      -- limits for silence and for the length of a line
  function(stream, peer)
    served = served + 1
    local line = stream:read "L"
    while line and stream:write(line) do  -- a slow reader makes the write wait, not the others
      messages = messages + 1
      line = stream:read "L"             -- nil at the end, or when the client is gone
    end
  end })
print("port " .. server.port)
io.flush()

loop:task(function()
  loop:stream({ fd = 0, write = false }):read "a"
  print(("connections: %d, messages: %d"):format(served, messages))
  loop:stop()
end)
