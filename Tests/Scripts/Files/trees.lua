-- Folders in folders: made, walked, copied and removed; links are not followed.
local ml = require "moonloop"
local fs, loop = ml.fs, ml.current()

loop:task(function()
  local folder <const> = assert(fs.temporary_folder())
  assert(fs.mkdir(folder .. "/from/a/b", { parents = true }))
  assert(fs.mkdir(folder .. "/from/a", { parents = true }))
  assert(select(3, fs.mkdir(folder .. "/from/a")) == "EEXIST")
  assert(fs.write(folder .. "/kept", "kept"))
  assert(select(3, fs.mkdir(folder .. "/kept/x", { parents = true })) == "ENOTDIR")
  assert(fs.write(folder .. "/from/a/file", "text", { permissions = 384 }))
  assert(fs.link("../../..", folder .. "/from/a/up", { symbolic = true }))
  assert(fs.link(folder .. "/kept", folder .. "/from/second"))
  assert(fs.copy(folder .. "/from", folder .. "/to", { recursive = true }))
  for _, name in ipairs { "/from", "/./from", "/from/", "/from/a/.." } do
    assert(select(3, fs.copy(folder .. name, folder .. "/from/a/x", { recursive = true }))
      == "EINVAL", name)
  end
  local trace = {}
  for path, kind, depth in fs.walk(folder .. "/to") do
    trace[#trace + 1] = ("%s %s %d"):format(path:sub(#folder + 2), kind, depth)
  end
  local expected = "to/a folder 0\nto/a/b folder 1\nto/a/file file 1\nto/a/up link 1\n"
    .. "to/second file 0"
  assert(table.concat(trace, "\n") == expected, table.concat(trace, "\n"))
  assert(fs.target(folder .. "/to/a/up") == "../../..")
  assert(fs.stat(folder .. "/to/a/file").permissions == 384)
  assert(fs.stat(folder .. "/from/second").links == 2)
  assert(fs.stat(folder .. "/to/a/up", { follow = false }).kind == "link")
  assert(select(3, fs.copy(folder .. "/kept", folder .. "/to/second", { replace = false }))
    == "EEXIST")
  assert(fs.copy(folder .. "/kept", folder .. "/kept") and fs.read(folder .. "/kept") == "kept")
  assert(select(3, fs.remove(folder .. "/to")) == "ENOTEMPTY")
  assert(fs.remove(folder .. "/to", { recursive = true }))
  assert(fs.remove(folder .. "/from", { recursive = true }))
  -- A name from elsewhere must not empty the folder that it is looked for in.
  assert(fs.mkdir(folder .. "/in"))
  for _, name in ipairs { "/in/..", "/in/../", "/.", "/in/../.", "/./", "/in/..//" } do
    assert(select(3, fs.remove(folder .. name, { recursive = true })) == "EINVAL", name)
  end
  assert(select(3, fs.remove("", { recursive = true })) == "ENOENT")
  assert(fs.remove(folder .. "/in/", { recursive = true }))
  assert(fs.read(folder .. "/kept") == "kept")
  local ok, message = pcall(fs.walk(folder .. "/nowhere"))
  assert(not ok and message:find "ENOENT", message)
  -- Deeper than a thread's stack, and than there are descriptors.
  assert(fs.mkdir(folder .. "/deep"))
  for _ = 1, 30 do
    local hundred = folder .. "/new" .. ("/d"):rep(100)
    assert(fs.mkdir(hundred, { parents = true }))
    assert(fs.rename(folder .. "/deep", hundred .. "/d"))
    assert(fs.rename(folder .. "/new", folder .. "/deep"))
  end
  assert(fs.remove(folder, { recursive = true }))
end):wait()
