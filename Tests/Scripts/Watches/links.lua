-- Links on the way: the path is followed wherever it leads, even when a link changes.
local ml = require "moonloop"
local loop = ml.current()

local folder = os.tmpname()
os.remove(folder)
local function sh(script)
  local whole = "mkdir -p " .. folder .. "; cd " .. folder .. "; " .. script
  assert(ml.process.run({ "sh", "-ec", whole }).code == 0)
end
-- Like a configuration that is swapped atomically: the file is a link through a link.
sh "mkdir v1 v2; echo 1 > v1/conf; echo 2 > v2/conf; ln -s v1 data; ln -s data/conf conf"

local told = ml.channel(10)
local watch <close> = loop:watch { folder .. "/conf", function(w, changes)
  for _, c in ipairs(changes) do
    assert(c.path == folder .. "/conf")
    told:send(c.kind)
  end
end }
sh "echo 11 > v1/conf"
assert(told:receive() == "changed")
sh "ln -s v2 data.new; mv -T data.new data"
assert(told:receive() == "changed")
sh "echo 22 > v2/conf"
assert(told:receive() == "changed")
sh "rm data"
assert(told:receive() == "deleted")
sh "ln -s v1 data"
assert(told:receive() == "created")
sh "rm -r v1"
assert(told:receive() == "deleted")
watch:invalidate()
ml.process.run { "rm", "-r", folder }
