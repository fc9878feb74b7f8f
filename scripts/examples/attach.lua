-- A program with a fault that is found and mended from outside, while it runs:
--
--   $ moonloop run attach.lua &
--   $ moonloop attach attach
--   > #jobs, done                  jobs come, and nothing is done
--   > loop:why(worker)             it is in a mode that nobody runs: a slip of the pen
--   > loop:add(worker, "default")
--   > #jobs, done                  now it is
--   > loop:stop "mended"
local ml = require "moonloop"
local loop = ml.current()

-- Globals, so that a console sees them. Of a function that is at work, `:break` shows the locals.
jobs, done = {}, 0

loop:timer { every = 0.01, name = "jobs", function() jobs[#jobs + 1] = ml.now() end }

worker = loop:timer { every = 0.02, name = "worker", modes = "backgroud", function()
  done = done + #jobs
  jobs = {}
end }

print "ready"
io.stdout:flush()
local _, value = loop:run()
print(value)
