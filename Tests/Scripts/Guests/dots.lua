-- A guest that may write a folder cannot remove it by a path that ends in dots.
local ml = require "moonloop"
local folder = assert(ml.fs.temporary_folder())
assert(ml.fs.write(folder .. "/kept", "kept"))
assert(ml.fs.mkdir(folder .. "/empty"))

for _, isolate in ipairs { false, true } do
  local guest = ml.guest {
    isolate = isolate, allow = { "fs=write:" .. folder },
    text = [[
      local ml = require "moonloop"
      function try(path, recursive)
        return select(3, ml.fs.remove(path, { recursive = recursive }))
      end
    ]],
  }
  for _, path in ipairs { "/.", "/empty/..", "/empty/.", "/empty/../empty/./" } do
    assert(guest:call("try", folder .. path, true) == "EINVAL", path)
  end
  assert(guest:call("try", folder .. "/empty/.", false) == "EINVAL")
  guest:invalidate()
end
assert(ml.fs.read(folder .. "/kept") == "kept" and ml.fs.stat(folder .. "/empty"))
assert(ml.fs.remove(folder, { recursive = true }))
