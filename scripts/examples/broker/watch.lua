-- Prints what workers say to all, asks one of them every second for its progress, and ends when no
-- job is left.
--   moonloop run watch.lua redis://HOST:PORT
local ml = require "moonloop"
local loop = ml.current()

local over = arg[1]
local jobs = ml.port { name = "jobs", over = over }
local status = ml.port { name = "status", over = over }
local news = ml.port { name = "news", over = over, deliver = "all",
  function(_, text) print("news: " .. text) end }

loop:task(function()
  repeat
    ml.sleep(1)
    local answer, problem = status:request("how far?", { timeout = 2 })
    print(answer and ("a worker has done %d"):format(answer.done) or problem)
    local count = jobs:count()
    if count then print(("%d jobs are left"):format(count)) end
  until count == 0
  for _, port in ipairs { jobs, status, news } do port:invalidate() end
end)
