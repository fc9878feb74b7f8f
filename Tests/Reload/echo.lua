-- An echo server that reloads itself on request, and checks a timer of 10 ms.
local begun = os.clock()
local ml = require "moonloop"
local loop = ml.current()

local STEP <const> = 0.01
local account = ml.reload.state("account", { missed = 0, off = 0, cpu = 0 })
local before = account.timer and account.timer.next_fire

local tick = loop:timer { every = STEP, name = "tick", function(timer, missed)
  account.missed = account.missed + missed
end }
account.start = account.timer and account.start or tick.next_fire
account.timer = tick
-- The load has not moved the timer.
if before and tick.next_fire ~= before then account.off = account.off + 1 end

local commands = {}
function commands.reload(stream)
  local done, message = ml.reload()
  stream:write(done and ("%d %d %d %d\n")
    :format(done.generation, done.kept, done.made, done.ended) or message .. "\n")
end
function commands.account(stream)
  -- Every point of the grid up to the next date was fired, or reported as missed.
  local points = (tick.next_fire - account.start) / STEP
  collectgarbage() collectgarbage()
  local lost = math.floor(points - tick.fires - account.missed + 0.5)
  stream:write(("%d %d %d %.6f %.1f\n"):format(account.off, lost, account.missed, account.cpu,
    collectgarbage "count"))
end

local server = assert(ml.net.listen { host = "127.0.0.1", port = 0, name = "echo",
  function(stream)
    for line in function() return stream:read "l" end do
      local command = commands[line]
      if command then command(stream) else stream:write(line, "\n") end
    end
  end })

loop:signal { "term", name = "stop", function() loop:stop() end }
ml.reload.on_unload(function() account.cpu = math.max(account.cpu, os.clock() - account.begun) end)
account.begun = begun
if ml.reload.generation() == 1 then print(server.port) io.flush() end
