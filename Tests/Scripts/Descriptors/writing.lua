-- Writing never waits: it reports how much was written, and why the rest was not.
local ml = require "moonloop"
local loop = ml.current()
local from, to = pipe()
local text, sent, got = ("0123456789"):rep(20000), 0, {}
local writer = loop:fd { fd = to, close = true, reenable = "write", write = function(fd, event)
  assert(event == "write")
  local count, message, code = fd:write(text:sub(sent + 1))
  if not count then return assert(code == "EAGAIN", message) end
  sent = sent + count
  if sent == #text then fd:invalidate() end
end }
writer:enable "write"
loop:fd { fd = from, close = true, read = function(fd)
  local part = fd:read(4096)
  if part then got[#got + 1] = part else fd:invalidate() end
end }
assert(loop:run() == "finished")
assert(table.concat(got) == text)

from, to = pipe()
local fd = ml.fd { fd = to, close = true, write = print }
assert(fd:write("a", 1, 2.5, "") == 5)
assert(fd:write() == 0)
close(from)
local count, message, code
repeat count, message, code = fd:write "x" until not count   -- a child may hold it until its exec
assert(count == nil and code == "EPIPE" and message:find "Broken pipe", message)
fd:invalidate()
