-- Named pipes without a reader or writer block no thread.
local ml = require "moonloop"
local fs = ml.fs
local loop = ml.current()

local function refused(_, message, code)
  assert(code == "ENXIO" and message:find "No such device or address", message)
end

loop:task(function()
  local folder = assert(fs.temporary_folder())
  local path = folder .. "/pipe"
  assert(ml.process.run { "mkfifo", path }.code == 0)
  for _ = 1, 5 do  -- there are four threads
    refused(fs.write(path, "x"))
    refused(fs.append(path, "x"))
    refused(fs.open(path, "w"))
    assert(fs.read(path) == "")
  end
  assert(fs.write(folder .. "/text", "x"))
  refused(fs.copy(folder .. "/text", path))
  local reader <close> = assert(fs.open(path))
  assert(reader:read(1) == "")

  assert(fs.copy(folder, folder .. "2", { recursive = true }))
  assert(fs.stat(folder .. "2/pipe").kind == "fifo")
  for _, made in ipairs { folder, folder .. "2" } do
    assert(fs.remove(made, { recursive = true }))
  end
end)
loop:run()
