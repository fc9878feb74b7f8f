-- The formats of the io library, as far as a nonblocking descriptor can support them.
local ml = require "moonloop"
local from, to = pipe()
local fd = ml.fd { fd = from, read = print }
local function read(format) return select("#", fd:read(format)), fd:read(format) end

assert(select(3, fd:read(10)) == "EAGAIN")
write(to, "abcdef\nsecond\nrest")
assert(fd:read(2) == "ab")
assert(fd:read(0) == "")
assert(fd:read "L" == "cdef\n")
assert(fd:read(3) == "sec")
assert(fd:read() == "ond")
assert(select(3, fd:read "a") == "EAGAIN")
write(to, " and more")
close(to)
assert(fd:read "a" == "rest and more")
assert(fd:read "a" == "")
local text, message, code = fd:read "l"
assert(text == nil and message == "end of file" and code == "EOF")
assert(select(3, fd:read(1)) == "EOF")
fd:invalidate()
close(from)
