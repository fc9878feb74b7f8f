-- `tail -F`: prints a file as it grows, even if it is rotated, truncated, or missing at first.
--
--   moonloop run scripts/examples/tail.lua FILE
local ml = require "moonloop"
local loop = ml.current()

local path = assert(arg[1], "name a file")
local file, place

-- Prints what was added since the last time; a file that is shorter now was truncated.
local function drain()
  if not file then return end
  if file:seek "end" < place then place = 0 end
  file:seek("set", place)
  local text = file:read "a"
  place = place + #text
  io.write(text)
end

local function open()
  if file then file:close() end
  file, place = io.open(path), 0
  drain()
end

loop:watch { path, debounce = 0, function(_, changes)
  drain()  -- including what was last written to a file that has been moved away
  for _, change in ipairs(changes) do
    if change.kind == "created" or change.replaced then open() end
    if change.kind == "overflow" then drain() end
  end
end }
loop:signal({ "int", "term" }, function() loop:stop() end)
open()
