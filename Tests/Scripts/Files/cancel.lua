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
  -- Each thread has ended what it began once as many calls were answered as there are threads.
  local tasks = {}
  for place = 1, 8 do tasks[place] = loop:task(function() fs.stat "/" end) end
  for _, task in ipairs(tasks) do task:await() end
  assert(not is_open(), "a descriptor stayed open")
  assert(fs.remove(path))
end):wait()
