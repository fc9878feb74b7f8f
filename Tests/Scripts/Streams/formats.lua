-- The formats of the io library, several at once; nil at the end of file; nothing taken too early.
local ml = require "moonloop"
local loop = ml.current()
local from, to = pipe()
local stream = ml.stream { fd = from, name = "in", write = false }
local seen = {}
loop:task(function()
  seen[#seen + 1] = table.concat({ stream:read("l", 3, "n") }, "|")
  seen[#seen + 1] = table.concat({ stream:read("n", "L") }, "|")
  seen[#seen + 1] = tostring(stream:read(0))
  seen[#seen + 1] = stream:read_some(2)
  seen[#seen + 1] = stream:read(4)
  seen[#seen + 1] = stream:read "a"
  assert(select("#", stream:read "l") == 1)
  seen[#seen + 1] = tostring(stream:read(1)) .. stream:read "a"
  stream:close()
end)
loop:after(1, function() write(to, "line\nabc") end)
loop:after(2, function() write(to, " -12") end)
loop:after(3, function() write(to, "7 0x1p4 tail\nxy") end)
loop:after(4, function() write(to, "zzyz") end)
loop:after(5, function() write(to, "rest") close(to) end)
assert(loop:run() == "finished")
assert(table.concat(seen, ";") == "line|abc|-127;16.0| tail\n;;xy;zzyz;rest;nil",
  table.concat(seen, ";"))
assert(not stream:is_valid())

-- Lines up to an empty one, as many as have come.
local from, to = pipe()
local stream = ml.stream { fd = from, write = false, line_limit = 9 }
local seen = {}
loop:task(function()
  repeat
    local text, _, code = stream:read "h"
    seen[#seen + 1] = text or code
  until not text and not code
  stream:close()
end)
loop:after(1, function() write(to, "a: b\r\n") end)
loop:after(2, function() write(to, "c\nd") end)
loop:after(3, function() write(to, "\r\n\r\nbody\n\n\n") end)
loop:after(4, function() write(to, "1234\n5678\n90\n") end)  -- the limit is for all of them
loop:after(5, function() write(to, "1234567890") end)
loop:after(6, function() write(to, "x\nrest\ny") close(to) end)
assert(loop:run() == "finished")
local text = table.concat(seen, "|"):gsub("\r", "R"):gsub("\n", "N")
assert(text == "a: bRN|cN|dRNRN|bodyNN|N|1234N5678N|90N|EMSGSIZE|restN|y", text)

-- A number that does not come: the blanks before it are read, the line that comes instead is there.
local later_from, later_to = pipe()
local later = ml.stream { fd = later_from, name = "later", write = false }
loop:task(function()
  write(later_to, "\n\n")
  local none, _, code = later:read("n", { timeout = 1 })
  assert(none == nil and code == "ETIMEDOUT", code)
  write(later_to, " \n7\nx\n")
  assert(later:read "n" == 7 and later:read "l" == "" and later:read "l" == "x")
  write(later_to, "\n")
  assert(select(3, later:read("n", { timeout = 1 })) == "ETIMEDOUT")
  write(later_to, "y\n")
  assert(later:read "l" == "y")
  later:close()
end)
loop:run()
