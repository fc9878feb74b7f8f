-- A program with a fault that is found and fixed from outside, while it runs:
--
--   $ moonloop run attach.lua &
--   $ moonloop attach attach
--   > #jobs, done                                            jobs come, and nothing is done
--   > loop:why(worker)                                       due in 17 s: 20 were milliseconds
--   > worker:invalidate() worker = loop:every(0.02, work)
--   > #jobs, done                                            now it is
--   > loop:stop "fixed"
local ml = require "moonloop"
local loop = ml.current()

-- Globals, so that a console sees them. `:break` shows the locals of a running function.
jobs, done = {}, 0

function work()
  done = done + #jobs
  jobs = {}
end

loop:timer { every = 0.01, name = "jobs", function() jobs[#jobs + 1] = ml.now() end }
worker = loop:timer { every = 20, name = "worker", work }

print "ready"
io.stdout:flush()
local _, value = loop:run()
print(value)
