-- Follow a log and count what happens in it
-- Follows the file as it grows and when it is rotated; every few seconds it prints the counts.
--
--   moonloop run tail_count.lua access.log ' (%d%d%d) '      counts the status of each request
local ml = require "moonloop"
local loop = ml.current()

local path, pattern = assert(arg[1], "name a file"), arg[2] or "^%S+"
local counts, total = {}, 0

local function count(line)
  local key = line:match(pattern)
  if key then counts[key] = (counts[key] or 0) + 1 end
  total = total + 1
end

local function report()
  local keys = {}
  for key in pairs(counts) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b)
    return counts[a] > counts[b] or counts[a] == counts[b] and a < b
  end)
  for _, key in ipairs(keys) do print(("%6d  %s"):format(counts[key], key)) end
  print(("%6d  in all"):format(total))
  io.flush()
end

-- `tail -F` handles rotation and files that are not there yet.
local tail = assert(ml.process.spawn { "tail", "-n", "+1", "-F", path,
  stdout = "pipe", stderr = "null" })
local timer = loop:every(5, report)
loop:signal({ "int", "term" }, function() tail:terminate() end):keep_alive(false)

for line in tail.stdout:lines() do
  count(line)
  if line == "end" then tail:terminate() end      -- the log says so itself
end
timer:invalidate()
report()
