-- Pressure that cannot be watched, wrong arguments, and the kernel's own answer.
local ml = require "moonloop"
local loop = ml.current()

local function nothing() end
local function mistake(text, options)
  local ok, message = pcall(loop.pressure, loop, options)
  assert(not ok and message:gsub(" %(%S+:%d+%)", ""):find(text, 1, true), message)
end
mistake("takes a table of options", "memory")
mistake("needs 'resource': \"memory\", \"cpu\" or \"io\"", { nothing })
mistake("'resource': unknown resource \"memry\"; did you mean 'memory'?",
  { resource = "memry", nothing })
mistake("'level': unknown level \"all\"", { resource = "cpu", level = "all", nothing })
mistake("'window' must be from 0.5 to 10 seconds, got 20.0",
  { resource = "cpu", window = 20, nothing })
mistake("'stall' must be from 1e-6 seconds to 'window', got 3.0",
  { resource = "cpu", stall = 3, window = 2, nothing })
mistake("the handler is missing", { resource = "cpu" })
mistake("unknown option 'windw'; did you mean 'window'?", { resource = "cpu", windw = 1, nothing })

local function refused(code, text, file)
  local pressure, message, found = loop:pressure { resource = "io", file = file, nothing }
  assert(pressure == nil and found == code, found)
  assert(message:find(text, 1, true), message)
end
refused("ENOENT", "the kernel does not measure pressure, or 'file' is wrong", "/nowhere/io")
-- A plain file is left unchanged.
local path = os.tmpname()
io.open(path, "w"):write("mine"):close()
refused("ENOTSUP", "it is not a pressure file", path)
assert(io.open(path):read "a" == "mine")
os.remove(path)

-- The files of this kernel: either they take a trigger, or the reason is a value.
for _, resource in ipairs { "memory", "cpu", "io" } do
  local pressure <close>, message, code = loop:pressure { resource = resource, nothing }
  assert(pressure and pressure.resource == resource
    or message:find("/proc/pressure/" .. resource, 1, true) and type(code) == "string", message)
end

-- Made without the loop, it is in no mode; nothing is left when it is collected.
os.remove(path)
assert(ml.process.run({ "mkfifo", path }).code == 0)
local function open()
  collectgarbage()
  collectgarbage()
  -- Only its own descriptors: others of the process come and go.
  local found = ml.process.run { "ls", "-l", "/proc/" .. ml.process.id() .. "/fd" }
  return select(2, found.stdout:gsub(path:gsub("%p", "%%%0"), ""))
end
local pressure = assert(ml.pressure { resource = "cpu", file = path, nothing })
assert(open() > 0, pressure)
pressure = nil
assert(open() == 0)
os.remove(path)
