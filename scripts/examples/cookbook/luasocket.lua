-- Use code that was written for LuaSocket, without blocking the loop
-- A call that would wait suspends its task, in libraries on LuaSocket too: here three requests of
-- socket.http wait at the same time. Needs Debian's lua-socket.
--
--   moonloop run luasocket.lua
local ml = require "moonloop"
require "moonloop.compat.socket"           -- before anything that uses LuaSocket
local http = require "socket.http"
local loop = ml.current()

-- A slow server, to have something to wait for.
local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(request)
  ml.sleep(1)
  return "slowly, " .. request.path:sub(2)
end })
local base = "http://127.0.0.1:" .. server.port .. "/"

loop:task(function(scope)
  local began, tasks = ml.now(), {}
  for place, name in ipairs { "owl", "heron", "robin" } do
    tasks[place] = scope:task(function() return (http.request(base .. name)) end)
  end
  for _, task in ipairs(tasks) do print(task:await()) end
  print(ml.now() - began < 2 and "all at once" or "one after the other")
  server:invalidate()
end)
