-- Fetch many addresses at the same time
-- Four requests are under way at any moment; a slow or dead server costs only its own time limit.
--
--   moonloop run fetch_many.lua http://127.0.0.1:8080/ http://127.0.0.1:8081/ ...
local ml = require "moonloop"
local loop = ml.current()

local gate = ml.semaphore(4)

local function fetch(url)
  local response, message = ml.http.get(url, { timeout = 10, max_body = 1 << 20 })
  if not response then return message end
  return ("%d, %d bytes"):format(response.status, #response.body)
end

loop:task(function(scope)
  local jobs = {}
  for place, url in ipairs(arg) do jobs[place] = scope:task(gate.with, gate, fetch, url) end
  for place, job in ipairs(jobs) do print(arg[place], job:await()) end
end)
