-- Collect changes and write them once, just before the program sleeps
-- An observer of `before_waiting` is called when a pass has done all its work. However many
-- handlers changed something in between, there is one write. The last one comes at `exit`.
--
--   moonloop run --clock virtual idle_batch.lua
local ml = require "moonloop"
local loop = ml.current()

local dirty, writes = {}, 0

local function set(key, value) dirty[key] = value end

loop:observer { on = { "before_waiting", "exit" }, name = "flush", function()
  if not next(dirty) then return end
  local keys = {}
  for key in pairs(dirty) do keys[#keys + 1] = key end
  table.sort(keys)
  writes = writes + 1
  print(("write %d: %s"):format(writes, table.concat(keys, ", ")))
  dirty = {}
end }

-- Three timers that are due together, and one of its own.
loop:after(1, function() set("a", 1) set("b", 1) end)
loop:after(1, function() set("b", 2) end)
loop:after(1, function() set("c", 3) end)
loop:after(2, function() set("a", 4) end)
