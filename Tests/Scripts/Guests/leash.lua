-- A guest is served only in the modes it was given, and in none while suspended. What it makes is
-- in its own modes, whatever it calls them.
local ml = require "moonloop"
local loop = ml.current()

local heard = {}
local function hear(word) heard[#heard + 1] = word end
local guest <close> = ml.guest {
  modes = "plugins", allow = { "timers" }, functions = { hear = hear },
  text = [[
    local ml = require "moonloop"
    ml.current():every(1, function() host.hear "plugins" end)
    ml.current():timer { every = 1, modes = "default", function() host.hear "default" end }
    ml.current():timer { every = 1, modes = "private", function() host.hear "private" end }
  ]],
}
loop:run { mode = "default", timeout = 3 }
assert(#heard == 0, "not in another mode of the host")
assert(guest.status == "running")

local function count(mode)
  heard = {}
  loop:run { mode = mode, timeout = 3.25 }
  return #heard
end
assert(count "plugins" == 6)
for _, word in ipairs(heard) do assert(word ~= "private") end
guest:suspend()
assert(guest.status == "suspended" and #guest:modes() == 0)
assert(count "plugins" == 0)
guest:suspend()
guest:resume()
assert(guest:modes()[1] == "plugins" and count "plugins" > 0)
loop:add(guest, "default")
assert(count "default" > 0, "the modes are those of its handle")
loop:remove(guest, "default")
assert(count "default" == 0)
