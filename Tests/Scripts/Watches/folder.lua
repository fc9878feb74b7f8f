-- A folder and its contents, at any depth; folders added later, with what was made in them.
local ml = require "moonloop"
local loop = ml.current()

local folder = os.tmpname()
os.remove(folder)
local function sh(script) assert(ml.process.run({ "sh", "-c", script, cwd = "/tmp" }).code == 0) end
sh("mkdir -p " .. folder .. "/old/deep")

local told = ml.channel(100)
local function handler(w, changes)
  local words = {}
  for i, c in ipairs(changes) do
    local from = c.from and " from " .. c.from:sub(#folder + 2) or ""
    words[i] = c.kind .. " " .. c.path:sub(#folder + 2) .. from
  end
  told:send(table.concat(words, ", "))
end
local function expect(words)
  local found = told:receive()
  assert(found == words, found .. "\nis not\n" .. words)
end

local watch = loop:watch { folder .. "//", recursive = true, debounce = 0.05, handler }
sh("echo 1 > " .. folder .. "/a")
expect "created a"
sh("echo 2 > " .. folder .. "/old/deep/b")
expect "created old/deep/b"
-- Made before the new folders could be watched.
sh("cd " .. folder .. " && mkdir -p new/x/y && echo 3 > new/x/y/c && echo 4 > new/d")
expect "created new, created new/d, created new/x, created new/x/y, created new/x/y/c"
sh("echo 33 >> " .. folder .. "/new/x/y/c")
expect "changed new/x/y/c"
-- Renamed with all its contents, which are watched under the new name.
sh("cd " .. folder .. " && mv new moved")
expect "renamed moved from new"
sh("echo 333 >> " .. folder .. "/moved/x/y/c")
expect "changed moved/x/y/c"
sh("cd " .. folder .. " && mv a moved/x/aa && mv moved/x/aa moved/x/aaa")
expect "renamed moved/x/aaa from a"
-- Saving as editors do, within one quiet period.
sh("cd " .. folder .. "/old/deep && echo 5 > b.tmp && mv b.tmp b")
expect "changed old/deep/b"
-- Moved out of the folder: gone, with all its contents.
sh("mv " .. folder .. "/moved/x " .. folder .. ".x")
expect "deleted moved/x/y/c, deleted moved/x/y, deleted moved/x/aaa, deleted moved/x"
sh("mv " .. folder .. ".x " .. folder .. "/back")
expect "created back, created back/aaa, created back/y, created back/y/c"
sh("rm -r " .. folder .. "/old")
expect "deleted old/deep/b, deleted old/deep, deleted old"
-- The folder itself: deleted, and made again.
sh("rm -r " .. folder)
local all = told:receive()
assert(all:find "deleted back/y/c" and all:find "deleted $", all)
sh("mkdir " .. folder .. " && echo > " .. folder .. "/again")
local again = told:receive()
assert(again == "created , created again", again)
sh("echo 1 >> " .. folder .. "/again")
expect "changed again"
watch:invalidate()

-- Not recursive: only its own entries.
sh("mkdir " .. folder .. "/sub")
local flat <close> = loop:watch { folder, handler }
sh("cd " .. folder .. " && echo > sub/e; echo > f")
expect "created f"
sh("rm -r " .. folder)
told:receive()
