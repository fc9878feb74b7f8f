-- Ports over a broker count for `ml.limit { handles }` until they end or are collected, those that
-- only send as well.
local ml = require "moonloop"

local function port(place) return ml.port { name = "p" .. place, over = "redis://127.0.0.1:1" } end

ml.limit { handles = 3 }
for place = 1, 20 do port(place) end  -- collected
local made = { port(1), port(2), port(3) }
local ok, message = pcall(port, 4)
assert(not ok and message:find("^ml%.port: the limit of 3 channels and semaphores is reached; "
  .. "see ml%.limit %(.*limits%.lua:5%)$"), message)
-- What has no JSON form is refused with its line, once.
ok, message = pcall(made[1].send, made[1], { print })
assert(not ok and message:find("^port 'p1': a function has no JSON form, at %[1%] %([^()]*:14%)$"),
  message)
made[2]:invalidate()
made[2] = port(4)
for _, one in ipairs(made) do one:invalidate() end
