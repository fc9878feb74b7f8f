-- A task that waits for a file can be cancelled and has deadlines; what it opened is closed.
local ml = require "moonloop"
local fs, loop = ml.fs, ml.current()

loop:task(function()
  local file = assert(fs.temporary_file())
  local path = file.path
  assert(file:close())
  local function is_open()
    for _, entry in ipairs(assert(fs.list "/proc/self/fd")) do
      if fs.target(entry.path) == path then return true end
    end
    return false
  end
  for _ = 1, 50 do
    local task = loop:task(function() fs.open(path) end)
    loop:task(function() task:cancel() end)
    assert(not pcall(task.await, task))
  end
  local opened, message, code = fs.open(path, "r", { timeout = 0 })
  if opened then opened:close() else assert(code == "ETIMEDOUT", message) end
  -- A thread finishes what it has begun, and then closes the file.
  for _ = 1, 10000 do
    if not is_open() then break end
  end
  assert(not is_open(), "a descriptor stayed open")
  assert(fs.remove(path))
end):wait()
