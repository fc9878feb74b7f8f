-- Handle files as they appear in a folder
-- A file is taken when the folder has been quiet for a moment, so that it is complete; afterwards
-- it is moved to `done`. What was there before the program started is handled first.
--
--   moonloop run inbox.lua FOLDER
local ml = require "moonloop"
local loop = ml.current()
local fs = ml.fs

local inbox = assert(arg[1], "name a folder")
assert(fs.mkdir(inbox .. "/done", { parents = true }))

local function handle(path)
  local text = assert(fs.read(path))
  print(("%s has %d bytes"):format(path:match "[^/]*$", #text))
  io.flush()
  assert(fs.rename(path, inbox .. "/done/" .. path:match "[^/]*$"))
end

local function look()
  for _, entry in ipairs(assert(fs.list(inbox))) do
    if entry.kind == "file" then handle(inbox .. "/" .. entry.name) end
  end
end

assert(loop:watch { inbox, debounce = 0.05, look })
loop:signal({ "int", "term" }, function() loop:stop() end)
look()
print "watching"
