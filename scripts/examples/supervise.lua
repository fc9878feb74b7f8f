-- Keeps programs running: one that ends is restarted, with a growing delay if it ends soon. On
-- SIGTERM or SIGINT they are stopped in reverse order, one after another.
--
--   moonloop run scripts/examples/supervise.lua NAME=COMMAND...
local ml = require "moonloop"
local loop = ml.current()

local first, most, soon = 0.1, 5, 1  -- seconds: shortest and longest delay; too short a run
local grace = 5
local services, stopping = {}, false

local function say(service, text) print(service.name .. ": " .. text) end

local function ending(status)
  return status.signal and "killed by " .. status.signal or "ended with " .. status.code
end

local function keep(service)
  local delay = first
  repeat
    local began = ml.now()
    local p, why = ml.process.spawn { "sh", "-c", service.shell_command, name = service.name,
      stdin = "null", group = true }
    if p then
      say(service, "started as " .. p.pid)
      service.process = p
      why = ending(p:await())
      service.process = nil
    end
    if stopping then return end
    if ml.now() - began >= soon then delay = first end
    say(service, why .. ", again in " .. delay .. " s")
    ml.sleep(delay)
    delay = math.min(delay * 2, most)
  until stopping
end

for _, text in ipairs(arg) do
  local name, command = text:match "^(%w+)=(.+)$"
  assert(name, "name services as NAME=COMMAND")
  -- A single command takes the place of the shell, so that the process is the program itself.
  local is_single = not command:find "[;&|\n]"
  local service = { name = name, shell_command = (is_single and "exec " or "") .. command }
  service.keeper = loop:task({ name = name }, keep, service)
  services[#services + 1] = service
end

loop:signal({ "term", "int" }, function(signal, name)
  signal:keep_alive(false)
  if stopping then return end
  stopping = true
  for i = #services, 1, -1 do
    local service = services[i]
    if service.process then
      local status = service.process:terminate({ grace = grace }):await()
      say(service, "stopped, " .. ending(status))
    end
    service.keeper:cancel()
    pcall(service.keeper.await, service.keeper)
  end
  print("all stopped by " .. name)
end)
