-- One task a direction; closing names the waiting task; a cancelled read takes no bytes.
local ml = require "moonloop"
local loop = ml.current()
local from, to = pipe()
local stream = ml.stream { fd = from, name = "in" }
local first = loop:task({ name = "first" }, function() return stream:read "l" end)
local done
loop:task(function()
  ml.sleep(0)
  local ok, message = pcall(stream.read, stream)
  assert(not ok and message:find "task 'first' %(made at .*%) waits to read already", message)
  first:cancel "enough"
  assert(select(2, pcall(first.await, first)) == "enough")
  write(to, "line\n")
  assert(stream:read() == "line")
  local reader = loop:task(function() return stream:read(1) end)
  ml.sleep(0)
  stream:close()
  local data, message, code = reader:await()
  assert(data == nil and code == "ECANCELED")
  assert(message == "stream 'in' was closed meanwhile", message)
  local ok, message = pcall(stream.read, stream)
  assert(not ok and message:find "was closed at .*one_waiter.lua:", message)
  done = true
end)
assert(loop:run() == "finished" and done)
close(to)
