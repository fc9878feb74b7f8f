-- More changes than the system queues: that is reported first, and a scan finds what was lost.
local ml = require "moonloop"
local loop = ml.current()

local file = io.open "/proc/sys/fs/inotify/max_queued_events"
local limit = file and file:read "n" or 16384
if file then file:close() end
if limit > 100000 then return end   -- it would take too long here

local folder = os.tmpname()
os.remove(folder)
assert(ml.process.run({ "mkdir", folder }).code == 0)
local function make(name) assert(io.open(folder .. "/" .. name, "w")):close() end

local told = ml.channel(10)
local watch = loop:watch { folder, name = "busy", function(_, changes) told:send(changes) end }
make "before"
local changes = told:receive()
assert(#changes == 1 and changes[1].kind == "created" and changes[1].path:find "/before$")

-- The loop sees none of this meanwhile; each file is one event when made, and one when removed.
for index = 1, limit // 2 + 100 do
  make(index)
  os.remove(folder .. "/" .. index)
end
make "lost"   -- there is no room for its event any more
os.remove(folder .. "/before")
changes = told:receive()
local words = {}
for index, change in ipairs(changes) do
  words[index] = change.kind .. change.path:sub(#folder + 1)
end
assert(words[1] == "overflow", words[1])
table.sort(words)
assert(table.concat(words, ", ") == "created/lost, deleted/before, overflow",
  table.concat(words, ", "))

-- It goes on as before.
make "after"
changes = told:receive()
assert(#changes == 1 and changes[1].kind == "created" and changes[1].path:find "/after$")
watch:invalidate()
assert(ml.process.run({ "rm", "-r", folder }).code == 0)
