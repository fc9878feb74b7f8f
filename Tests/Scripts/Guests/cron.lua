-- A guest that was granted timers has loop:cron, without the files of time zones.
local ml = require "moonloop"
local loop = ml.current()

local guest <close> = ml.guest { allow = { "timers" }, text = [[
  local loop = require "moonloop".current()
  function begin(zone)
    local done, message = pcall(loop.cron, loop, { "* * * * *", print, zone = zone })
    return done, tostring(message)
  end
]] }
loop:task(function()
  assert(guest:call "begin")
  assert(guest:call("begin", "UTC"))
  local done, message = guest:call("begin", "Europe/Berlin")
  assert(not done and message:find "time zones by name are not available", message)
end):wait { mode = "default" }
