-- Run many commands at once, but no more than a few at a time
-- A semaphore has as many permits as commands may run; results come in the order of the list.
--
--   moonloop run parallel.lua 3 a.txt b.txt ...      three at a time
local ml = require "moonloop"
local loop = ml.current()

local limit = tonumber(arg[1]) or 4
local files = { table.unpack(arg, 2) }

local gate = ml.semaphore(limit)
local running, most = 0, 0

local function count(path)
  running = running + 1
  most = math.max(most, running)
  local result, message = ml.process.run { "wc", "-c", path, check = true, timeout = 10 }
  running = running - 1
  return result and result.stdout:match "%d+" .. " bytes" or message
end

loop:task(function(scope)
  local jobs = {}
  for place, path in ipairs(files) do
    jobs[place] = scope:task(gate.with, gate, count, path)
  end
  for place, job in ipairs(jobs) do
    print(files[place]:match "[^/]*$" .. ": " .. job:await())
  end
  assert(most <= limit)
end)
