-- Ending a child: by request, kill, suspend, with its group, at the end of a block.
local ml = require "moonloop"
local loop = ml.current()

local function sleeper(options)
  local all = { "sleep", "100" }
  for key, value in pairs(options or {}) do all[key] = value end
  return assert(ml.process.spawn(all))
end

assert(sleeper():terminate():await().signal == "term")
assert(sleeper():terminate({ signal = "int" }):await().signal == "int")
local killed = sleeper()
assert(killed:kill() == true)
assert(killed:await().signal == "kill" and killed:await().code == nil)
local ok, message, code = killed:kill()
assert(not ok and code == "ESRCH" and message:find("it has ended", 1, true), message)
killed:terminate()  -- no effect, no error
assert(tostring(killed):find "^process 'sleep' %(pid %d+%), killed by kill$", tostring(killed))

-- One that ignores the request is killed when its time is up, by the system's clock.
local stubborn = assert(ml.process.spawn {
  "sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.01; done",
  stdout = "pipe", group = true,
})
stubborn.stdout:read "l"
assert(stubborn:terminate({ grace = 0.05 }):await().signal == "kill")

-- A group: the grandchild gets the signal too.
local group = assert(ml.process.spawn {
  "sh", "-c", "sleep 100 & echo $!; wait", stdout = "pipe", group = true,
})
local grandchild = math.tointeger(group.stdout:read "n")
assert(group:terminate():await().signal == "term")
-- It is gone once init has reaped it; we get no notice.
repeat local lives = ml.process.kill(grandchild, 0) and not
  (io.open("/proc/" .. grandchild .. "/stat") or io.open "/dev/null"):read("a"):find "%) [ZX]"
until not lives

-- A suspended one goes on to get it.
local paused = sleeper()
assert(paused:kill "stop")
repeat until io.open(("/proc/%d/stat"):format(paused.pid)):read "a":find "%) T "
assert(paused:terminate({ grace = 100 }):await().signal == "term")

-- At the end of a block it is asked to end, and waited for.
local pid
do
  local p <close> = sleeper { stdin = "pipe" }
  pid = p.pid
end
assert(select(3, ml.process.kill(pid, 0)) == "ESRCH")
do
  local p <close> = sleeper()
  p:kill()
  p:await()
end

-- By invalidate at once; its handler is still called.
local heard
local p = sleeper { on_exit = function(p, status) heard = status.signal end }
p:invalidate()
p:await()
assert(heard == "kill")

-- A cancelled task ends what it ran.
local running = loop:task(function()
  return ml.process.run { "sleep", "100", name = "cancelled" }
end)
ml.process.run { "true" }
running:cancel()
assert(not pcall(running.await, running))
while loop:dump():find("cancelled", 1, true) do ml.process.run { "true" } end

local function mistake(text, ...)
  local ok, message = pcall(...)
  assert(not ok and message:gsub(" %(%S+:%d+%)", ""):find(text, 1, true), message)
end
mistake("unknown signal \"trem\"", p.kill, p, "trem")
mistake("did you mean \"term\"", p.kill, p, "trem")
mistake("there is no signal 99", p.kill, p, 99)
mistake("unknown option 'grase'; did you mean 'grace'?", p.terminate, p, { grase = 1 })
mistake("process:kill: must be called with a colon", p.kill)
mistake("the process must be a whole number", ml.process.kill, "x", "term")
assert(select(3, ml.process.kill(2 ^ 31 - 1 | 0, "term")) == "ESRCH")
