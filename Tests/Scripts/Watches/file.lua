-- One file: written, replaced as editors do, deleted and made again, missing at first.
local ml = require "moonloop"
local loop = ml.current()

local folder = os.tmpname()
os.remove(folder)
assert(ml.process.run({ "mkdir", folder }).code == 0)
local path = folder .. "/file"

local told = ml.channel(100)
local watch = loop:watch { path, debounce = 0.05, function(w, changes)
  local words = {}
  for i, c in ipairs(changes) do
    assert(c.path == path, c.path)
    words[i] = c.kind .. (c.replaced and " replaced" or "")
  end
  told:send(table.concat(words, " "))
end }
assert(watch.path == path)

local function write(name, text) io.open(name, "w"):write(text):close() end
local function expect(words)
  local found = told:receive()
  assert(found == words, found)
end

write(path, "1")
expect "created"
write(path, "22")
expect "changed"
-- Rename-on-save: the path has another file now.
write(path .. "~", "333")
os.rename(path .. "~", path)
expect "changed replaced"
write(path, "4444")
expect "changed"
-- Editors that keep the old one: it is moved away, and a new one written.
os.rename(path, path .. ".bak")
write(path, "5")
expect "changed replaced"
os.remove(path)
expect "deleted"
write(path, "6")
expect "created"
ml.process.run { "chmod", "600", path }
expect "attributes"
-- Other files of the folder do not matter.
write(folder .. "/other", "x")
write(path, "7")
expect "changed"
-- Changes that cancel out within one quiet period are not reported; the next one is.
write(path .. ".new", "88")
os.remove(path)
os.rename(path .. ".new", path)
expect "changed replaced"

-- The folder goes, and comes back.
ml.process.run { "rm", "-r", folder }
expect "deleted"
ml.process.run { "mkdir", "-p", folder }
write(path, "9")
expect "created"

-- The folder is renamed: the path no longer exists.
os.rename(folder, folder .. ".old")
expect "deleted"
os.rename(folder .. ".old", folder)
expect "created"

watch:invalidate()
assert(watch.path == nil)
ml.process.run { "rm", "-r", folder }
