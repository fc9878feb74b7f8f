-- A line beyond the limit is one error and is dropped as it arrives; the next is read as usual.
local ml = require "moonloop"
local loop = ml.current()
local from, to = pipe()
local seen = {}
loop:fd { fd = from, close = true, name = "in", line_limit = 1000, read = function(fd)
  local line, message, code = fd:read "l"
  if code ~= "EAGAIN" then seen[#seen + 1] = line or code end
  if code == "EMSGSIZE" then
    assert(message == "fd 'in': the line is longer than 1000 bytes; it is dropped", message)
  elseif code == "EOF" then
    fd:invalidate()
  end
end }
write(to, "short\n")
local left = 100
loop:timer { first = 0.1, every = 0.1, function(timer)
  write(to, ("x"):rep(10000))
  left = left - 1
  if left == 0 then
    write(to, "tail\nnext\n" .. ("y"):rep(1001) .. "\n" .. ("z"):rep(1000) .. "\n")
    close(to)
    timer:invalidate()
  end
end }
assert(loop:run() == "finished")
assert(table.concat(seen, "|") == "short|EMSGSIZE|next|EMSGSIZE|" .. ("z"):rep(1000) .. "|EOF",
  table.concat(seen, "|"))
