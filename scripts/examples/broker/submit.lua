-- Sends jobs, from one number to another, to the workers; ends when the broker has all of them.
--   moonloop run submit.lua redis://HOST:PORT FROM TO
local ml = require "moonloop"
local loop = ml.current()

local over, from, to = arg[1], math.tointeger(arg[2]), math.tointeger(arg[3])
-- The queue takes this many; then send waits until there is room or the timeout is over.
local jobs <const> = ml.port { name = "jobs", over = over, capacity = 1000, timeout = 60 }

local next_job, sent = from, 0
local senders = {}
for place = 1, 32 do
  senders[place] = loop:task(function()
    while next_job <= to do
      local number = next_job
      next_job = number + 1
      assert(jobs:send { number = number })
      sent = sent + 1
    end
  end)
end

loop:task(function()
  for _, sender in ipairs(senders) do sender:await() end
  print(("sent %d jobs"):format(sent))
  jobs:invalidate()
end)
