-- A custom source: signalled by hand, performed once a pass however often it was signalled.
-- Here a timer plays whatever brings commands; any code may signal.
local ml = require "moonloop"
local loop = ml.current()

local queue = {}

local commands = ml.source { name = "commands",
  schedule = function(source, lp, mode) print("scheduled in " .. mode) end,
  cancel = function(source, lp, mode) print("cancelled in " .. mode) end,
  perform = function(source)
    print(#queue .. " at once: " .. table.concat(queue, ", "))
    queue = {}
  end }
loop:add(commands, "default")

local function send(command)
  queue[#queue + 1] = command
  commands:signal()                      -- only marks it; on the loop's own thread that is enough
end

local feed = { { "clean" }, { "build", "test" }, { "build", "lint", "docs" } }
loop:every(0.2, function(timer, missed)
  local burst = table.remove(feed, 1)
  if burst then
    for _, command in ipairs(burst) do send(command) end
  else
    timer:invalidate()
    commands:invalidate()                -- otherwise the source would keep the loop running
  end
end)
