-- Keep state across restarts, written atomically
-- `fs.replace` writes a new file and puts it in the place of the old one: whatever happens, the
-- file has the old state or the new one. Changes are collected for a second.
--
--   moonloop run state.lua counter.txt
local ml = require "moonloop"
local loop = ml.current()

local path = assert(arg[1], "name a file")
local count = tonumber((ml.fs.read(path))) or 0

local pending
local function save()
  pending = nil
  assert(ml.fs.replace(path, tostring(count)))
end

local function add()
  count = count + 1
  pending = pending or loop:after(1, save)
end

print("begins at " .. count)
for _ = 1, 3 do add() end
loop:after(2.5, add)
