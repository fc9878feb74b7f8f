-- Rebuild when a file changes
-- Waits until files have been quiet for a moment, and starts again what is still running when the
-- next change comes.
--
--   moonloop run rebuild.lua src make all
local ml = require "moonloop"
local loop = ml.current()

local folder = assert(arg[1], "name a folder and a command")
local command = { table.unpack(arg, 2) }
assert(command[1], "name a command to run")

local building
local function build()
  if building then building:cancel "changed again" end
  building = loop:task({ name = "build" }, function()
    local began = ml.now()
    local spawn = { table.unpack(command) }
    spawn.group = true                   -- its own children are ended with it
    local child <close> = assert(ml.process.spawn(spawn))
    local status = child:await()
    print(status.code == 0 and ("built in %.1f s"):format(ml.now() - began)
      or "failed with " .. (status.code or status.signal))
    io.flush()
  end)
  building.on_error = function() end     -- a cancelled build is not an error
end

assert(loop:watch { folder, recursive = true, debounce = 0.1, function(_, changes)
  for _, change in ipairs(changes) do print(change.kind .. " " .. change.path:match "[^/]*$") end
  build()
end })
loop:signal({ "int", "term" }, function() loop:stop() end)
build()
