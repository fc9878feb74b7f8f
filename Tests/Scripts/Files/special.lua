-- Files of /proc, devices and pipes are copied as they are read; and a copy without an end stops
-- with the task that waits for it.
local ml = require "moonloop"
local fs, loop = ml.fs, ml.current()

loop:task(function()
  local folder = assert(fs.temporary_folder())
  local path = folder .. "/copy"
  assert(fs.copy("/proc/self/status", path))
  assert(fs.read(path):find "^Name:%s")
  assert(fs.copy("/dev/null", path))
  assert(fs.stat(path).size == 0)
  assert(fs.copy("/proc/self/maps", folder .. "/maps", { recursive = true }))
  assert(fs.read(folder .. "/maps"):find "\n%x+%-%x+ ")
  -- What cannot be read costs nothing.
  assert(fs.write(path, "kept"))
  for _, source in ipairs { "/proc/self/mem", folder } do
    assert(not fs.copy(source, path))
    assert(not fs.copy(source, folder .. "/none"))
  end
  assert(fs.read(path) == "kept" and not fs.stat(folder .. "/none"))
  -- To a device, which keeps its permissions.
  local before = fs.stat "/dev/null".permissions
  assert(fs.chmod(path, 384) and fs.copy(path, "/dev/null"))
  assert(fs.stat "/dev/null".permissions == before)
  assert(select(3, fs.copy(path, "/dev/full")) == "ENOSPC")

  -- Whether what is copied without an end is open.
  local function is_open()
    for _, entry in ipairs(assert(fs.list "/proc/self/fd")) do
      if fs.target(entry.path) == "/dev/zero" then return true end
    end
    return false
  end
  local task = loop:task(function() fs.copy("/dev/zero", "/dev/null") end)
  for _ = 1, 10000 do
    if is_open() then break end
  end
  task:cancel()
  for _ = 1, 10000 do
    if not is_open() then break end
  end
  assert(not is_open(), "it is still being copied")
  assert(fs.remove(folder, { recursive = true }))
end):wait()
