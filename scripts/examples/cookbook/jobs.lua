-- Share jobs among machines, and lose none
-- A Redis server keeps each job until a worker has done it; those of a worker that dies go to
-- others. Start as many workers as you like, anywhere.
--
--   moonloop run jobs.lua redis://localhost work
--   moonloop run jobs.lua redis://localhost 3 4 5
local ml = require "moonloop"
local loop = ml.current()

local over, first = arg[1] or "redis://localhost", arg[2] or "work"

if first == "work" then
  ml.port { name = "squares", over = over, at_once = 4, function(_, number, reply)
    ml.sleep(0.1)                          -- the work; its lease is renewed meanwhile
    assert(reply(number * number))         -- done: the job is acknowledged
  end }
  loop:signal({ "int", "term" }, function() loop:stop() end):keep_alive(false)
else
  loop:task(function(scope)
    local port <close> = ml.port { name = "squares", over = over }
    local tasks = {}
    for place = 2, #arg do
      tasks[place - 1] = scope:task(function()
        return assert(port:request(tonumber(arg[place]), { timeout = 10 }))
      end)
    end
    for place, task in ipairs(tasks) do print(arg[place + 1], task:await()) end
  end)
end
