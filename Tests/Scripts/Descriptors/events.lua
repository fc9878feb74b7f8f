-- Disabled events are kept, not lost (R65); write disables itself when called (R63), read does not.
local ml = require "moonloop"
local loop = ml.current()
local from, to = pipe()
local reads, writes = 0, 0
local reader = loop:fd { fd = from, read = function(fd) reads = reads + 1 fd:read(1) end }
local writer = loop:fd { fd = to, write = function(fd) writes = writes + 1 end }
assert(#writer.enabled == 0 and reader.enabled[1] == "read")
reader:disable "read"
write(to, "abc")
assert(loop:run { timeout = 1 } == "timed_out" and reads == 0 and writes == 0)
reader:enable { "read" }
writer:enable "write"
assert(loop:run { timeout = 1 } == "timed_out")
assert(reads == 3 and writes == 1, reads .. " " .. writes)
assert(#writer.enabled == 0)
reader:invalidate() writer:invalidate()
close(from) close(to)
