-- A grandchild that holds the output open: it is waited for as long as 'linger' says.
local ml = require "moonloop"

local held = assert(ml.process.spawn {
  "sh", "-c", "sleep 100 & echo $!", stdout = "pipe", linger = 0.05,
})
local pid = math.tointeger(held.stdout:read "n")
assert(held:await().code == 0)
assert(ml.process.kill(pid, 0), "the grandchild is not ours to end")

-- Its output is read while that lasts.
local late = assert(ml.process.spawn {
  "sh", "-c", "(sleep 0.1; echo late) & echo soon", stdout = "pipe", linger = math.huge,
})
assert(late.stdout:read "a" == "soon\nlate\n")
assert(late:await().code == 0)

local none = assert(ml.process.spawn {
  "sh", "-c", "sleep 100 & echo $!", stdout = "pipe", linger = 0,
})
assert(none:await().code == 0)
local other = math.tointeger(none.stdout:read "n")

local result = assert(ml.process.run { "sh", "-c", "sleep 100 & echo $!", linger = 0.05 })
assert(result.code == 0)
for _, one in ipairs { pid, other, math.tointeger(result.stdout) } do
  ml.process.kill(one, "kill")
end
