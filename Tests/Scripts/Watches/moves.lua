-- What happens in a folder that is renamed in the same quiet period is reported by its new path: a
-- copy that follows the changes, one after another, has what is there.
local ml = require "moonloop"
local fs, loop = ml.fs, ml.current()

local folder = assert(fs.temporary_folder())
local function sh(script)
  assert(ml.process.run({ "sh", "-ec", script, cwd = folder }).code == 0, script)
end

local told = ml.channel(100)
local watch = loop:watch { folder, recursive = true, function(_, changes)
  local words = {}
  for i, c in ipairs(changes) do
    local from = c.from and " from " .. c.from:sub(#folder + 2) or ""
    words[i] = c.kind .. " " .. c.path:sub(#folder + 2) .. from
  end
  told:send(table.concat(words, ", "))
end }

local GONE <const> = "deleted a/s/t/f, deleted a/s/t, deleted a/s, deleted a/d, deleted a/c, "
  .. "deleted a"

for _, case in ipairs {
  { "mv a b; echo yyy >> b/c; rm b/d", "renamed b from a, changed b/c, deleted b/d" },
  { "echo yyy >> a/c; rm a/d; mv a b", "renamed b from a, changed b/c, deleted b/d" },
  { "mv a b; mv b/c b/cc", "renamed b from a, renamed b/cc from b/c" },
  { "mv a/c a/cc; mv a b", "renamed b from a, renamed b/cc from b/c" },
  { "mv a/c cc; mv a b", "renamed b from a, renamed cc from b/c" },
  { "mv a b; mv b e; echo yyy >> e/s/t/f", "renamed e from a, changed e/s/t/f" },
  { "mv a/s s; mv a/c s/t/c; mv s b",
    "renamed b from a/s, renamed b/t/c from a/c" },
  { "mv a/s/t b; mv a b/a; echo yyy >> b/a/c; rm b/f",
    "created b, renamed b/a from a, deleted b/a/s/t/f, deleted b/a/s/t, changed b/a/c" },
  { "mv a b; mv b a; echo yyy >> a/c", "changed a/c" },
  { "mv a b; mkdir b/n; echo > b/n/x", "renamed b from a, created b/n, created b/n/x" },
  { "mv a b; mv b ../$$; mkdir b; echo > b/c; rm -r ../$$",
    GONE .. ", created b, created b/c" },
  { "mv a ../$$; mv ../$$ b; rm b/c",
    GONE .. ", created b, created b/d, created b/s, created b/s/t, created b/s/t/f" },
  { "echo yyy >> a/c; mv a ../$$; mkdir a; echo yyy > a/c; rm -r ../$$",
    "changed a/c, " .. GONE .. ", created a, created a/c" },
  { "mv a/c c; echo yyy >> c", "renamed c from a/c, changed c" },
} do
  local script, expected = table.unpack(case)
  sh "mkdir -p a/s/t; echo x > a/c; echo x > a/d; echo x > a/s/t/f"
  told:receive()
  sh(script)
  local found = told:receive()
  assert(found == expected, script .. "\n" .. found .. "\nis not\n" .. expected)
  -- The folder is watched where it is now, and nothing is known of where it was.
  local files = {}
  for path, kind in fs.walk(folder) do
    if kind == "file" then files[#files + 1] = path end
  end
  for _, path in ipairs(files) do
    assert(fs.append(path, "more"))
    found = told:receive()
    assert(found == "changed " .. path:sub(#folder + 2), script .. "\n" .. found)
  end
  local count = 0
  for _ in fs.walk(folder) do count = count + 1 end
  sh "rm -r *"
  found = told:receive()
  local _, deleted = found:gsub("deleted ", "")
  assert(deleted == count and not found:find "[^%a]created" and not found:find "renamed", found)
end
watch:invalidate()
assert(fs.remove(folder, { recursive = true }))
