-- A read that times out loses no bytes; a call's deadline overrides the stream's.
local ml = require "moonloop"
local loop = ml.current()
local from, to = pipe()
local stream = ml.stream { fd = from, timeout = 2 }
local seen = {}
local function note(...) seen[#seen + 1] = table.concat({ ml.now() // 1, ... }, " ") end
loop:task(function()
  local start = ml.now()
  local function read(...)
    local line, message, code = stream:read(...)
    seen[#seen + 1] = ("%.0f %s"):format(ml.now() - start, line or code)
  end
  read "l"
  read("l", { timeout = 5 })
  read(4, { timeout = 0 })
  read(4)
  stream.timeout = nil
  read "l"
  stream:close()
end)
loop:after(1, function() write(to, "abc") end)
loop:after(20, function() write(to, "d\nefg\n") end)
assert(loop:run() == "finished")
assert(table.concat(seen, ";") == "2 ETIMEDOUT;7 ETIMEDOUT;7 ETIMEDOUT;9 ETIMEDOUT;20 abcd",
  table.concat(seen, ";"))
close(to)
