-- Find out which ports of this machine are open
-- Many connections are tried at once, 100 at a time, each with a limit of its own.
--
--   moonloop run scan.lua 1 1024
local ml = require "moonloop"
local loop = ml.current()

local first, last = tonumber(arg[1]) or 1, tonumber(arg[2]) or 1024
local gate = ml.semaphore(100)
local open = {}

local function try(port)
  local stream <close> = ml.net.connect { host = "127.0.0.1", port = port, timeout = 1 }
  if stream then open[#open + 1] = port end
end

loop:task(function(scope)
  for port = first, last do
    local permit = gate:acquire()        -- before the task is made: never more than 100 of them
    scope:task(function()
      local held <close> = permit
      try(port)
    end)
  end
end):await()

table.sort(open)
for _, port in ipairs(open) do print(port) end
print(("%d of %d ports are open"):format(#open, last - first + 1))
