-- Each call gets one line, even of those read ahead; the last line may lack its newline.
local ml = require "moonloop"
local loop = ml.current()
local from, to = pipe()
local lines = {}
local reader = loop:fd { fd = from, close = true, read = function(fd, event)
  assert(event == "read")
  local line, message, code = fd:read "l"
  lines[#lines + 1] = line or code
  if code == "EOF" then fd:invalidate() end
end }
write(to, "one\n\nthr")
loop:after(1, function() write(to, "ee\nfour") end)
loop:after(2, function() close(to) end)
assert(loop:run() == "finished")
assert(table.concat(lines, "|") == "one||EAGAIN|three|EAGAIN|four|EOF", table.concat(lines, "|"))
assert(not reader:is_valid() and reader.fd == -1)
