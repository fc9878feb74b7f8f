-- `sort FILE | uniq -c` with process pipes: this script reads the file and feeds `sort`, whose
-- output goes straight to `uniq`, whose output comes back here. No shell, and nothing is held in
-- memory as a whole: a write waits while the pipe is full.
--
--   moonloop run scripts/examples/pipeline.lua FILE
local ml = require "moonloop"
local loop = ml.current()

local path = assert(arg[1], "name a file")
local order = { LC_ALL = "C" }
local sort = assert(ml.process.spawn { "sort", env_add = order, stdin = "pipe", stdout = "pipe" })
local uniq = assert(ml.process.spawn { "uniq", "-c", env_add = order,
  stdin = sort.stdout, stdout = "pipe" })

local feeder = loop:task({ name = "feeder" }, function()
  for part in assert(io.open(path)):lines(1 << 16) do assert(sort.stdin:write(part)) end
  sort.stdin:close()
end)

local lines, total = 0, 0
for line in uniq.stdout:lines() do
  print(line)
  lines = lines + 1
  total = total + tonumber(line:match "%d+")
end
feeder:await()
for name, p in pairs { sort = sort, uniq = uniq } do
  local status = p:await()
  assert(status.code == 0, name .. " failed")
end
print(("%d different lines of %d"):format(lines, total))
