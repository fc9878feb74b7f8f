-- Shut down gracefully on Ctrl-C or SIGTERM
-- No new work is taken, what is under way is finished within some seconds, and only then does the
-- program end. A second signal ends it at once.
--
--   moonloop run shutdown.lua            and then: kill -TERM PID
local ml = require "moonloop"
local loop = ml.current()

local grace = 5
local finished = 0
local jobs = loop:task({ name = "jobs" }, function(scope)
  local taking = true
  loop:signal({ "int", "term" }, function(signal, name)
    if not taking then os.exit(1) end    -- the second one
    taking = false
    print("got " .. name .. ", finishing")
    io.flush()
    loop:after(grace, function() scope:cancel "took too long" end):keep_alive(false)
  end):keep_alive(false)

  local number = 0
  while taking do                        -- stands for a server that accepts
    number = number + 1
    scope:task({ name = "job " .. number }, function()
      ml.sleep(0.2)
      finished = finished + 1
    end)
    if number == 3 then print "ready" io.flush() end
    ml.sleep(0.05)
  end
end)

local ok, why = pcall(jobs.await, jobs)
print(ok and "all jobs finished" or why)
assert(finished > 0)
