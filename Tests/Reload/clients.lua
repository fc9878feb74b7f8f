-- Clients of a server that is reloaded all the time: clients.lua PROGRAM SERVER LOADS
local ml = require "moonloop"
local loop = ml.current()
local program, script, loads = arg[1], arg[2], tonumber(arg[3])

local server <close> = assert(ml.process.spawn { program, "run", script, stdout = "pipe" })
local port = tonumber(server.stdout:read "l")
local function connect()
  return assert(ml.net.connect { host = "127.0.0.1", port = port, timeout = 60 })
end

-- What the system reports about the server: descriptors, and kilobytes of memory.
local function used()
  local list = assert(ml.process.run { "ls", ("/proc/%d/fd"):format(server.pid) }).stdout
  local status = io.open(("/proc/%d/status"):format(server.pid)):read "a"
  return select(2, list:gsub("\n", "")), tonumber(status:match "VmRSS:%s*(%d+)")
end

local control = connect()
local function ask(command)
  assert(control:write(command, "\n"))
  return assert(control:read "l")
end

-- Each sends something new and expects it back; some hang up and connect again.
local is_over, echoes = false, 0
local clients = {}
for number = 1, 8 do
  clients[number] = loop:task({ name = "client " .. number }, function()
    local stream = connect()
    local turn = 0
    while not is_over do
      turn = turn + 1
      local text = ("client %d, turn %d"):format(number, turn)
      assert(stream:write(text, "\n"))
      local answer = assert(stream:read "l")
      assert(answer == text, answer)
      echoes = echoes + 1
      if number > 4 and turn % 20 == 0 then
        stream:close()
        stream = connect()
      end
    end
    stream:close()
  end)
end

for _ = 1, 100 do ask "reload" end
local _, memory_before = ask "account", select(2, used())
for generation = 102, loads + 1 do
  local answer = ask "reload"
  assert(answer == generation .. " 3 0 0", answer)
end
is_over = true
for _, client in ipairs(clients) do client:await() end

local account = ask "account"
-- The server must notice first that the clients have hung up.
local fds, memory
for _ = 1, 100 do
  fds, memory = used()
  if fds <= 12 then break end
  ask "nothing"
end
control:close()
server:kill "term"
print("status", server:await().code, "answered", echoes >= loads // 10)
local off, lost, missed, cpu, heap = account:match "(%S+) (%S+) (%S+) (%S+) (%S+)"
print("moved by a load", off, "lost", lost)
print("a load takes less than a tick", tonumber(cpu) < 0.01)
-- A sanitizer keeps freed memory.
local is_bounded = memory - memory_before < 4096 or os.getenv "MOONLOOP_SANITIZED" ~= nil
print("descriptors", fds <= 12, "heap", tonumber(heap) < 600, "memory", is_bounded)
io.stderr:write(("%d loads, %d echoes, %s ticks missed, %.2f ms of CPU for the longest load, "
  .. "%s KB of Lua, %d KB more than after 100 loads, %d descriptors\n"):format(loads, echoes,
  missed, tonumber(cpu) * 1000, heap, memory - memory_before, fds))
