-- Folders and files in memory, where Linux has such a file system.
local ml = require "moonloop"
local fs, loop = ml.fs, ml.current()

loop:task(function()
  local folder, message, code = fs.temporary_folder { memory = true }
  if not folder then
    assert(code == "ENODEV" or code == "ENOENT" or code == "EACCES", message)
    return
  end
  assert(folder:find "^/dev/shm/moonloop%-")
  assert(fs.write(folder .. "/a", "text") and fs.read(folder .. "/a") == "text")
  assert(fs.remove(folder, { recursive = true }))
  local file <close> = assert(fs.temporary_file { memory = true, prefix = "b-" })
  assert(file.path:find "^/dev/shm/b%-")
  assert(fs.remove(file.path))
  local ok, mistake = pcall(fs.temporary_folder, { memory = true, folder = "/tmp" })
  assert(not ok and mistake:find "'memory' says where already", mistake)
end):wait()
