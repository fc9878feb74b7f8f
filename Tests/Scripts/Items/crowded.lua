-- A mode that becomes common reports a descriptor that it already watches; the rest joins it.
local ml = require "moonloop"
local loop = ml.current()
rounds = (rounds or 0) + 1  -- a mode stays common for good
local mode = "crowded" .. rounds
local from, to = pipe()
local first <close> = loop:fd { fd = from, modes = mode, name = "first", read = print }
local second <close> = loop:fd { fd = from, modes = "common", name = "second", read = print }
local timer <close> = loop:timer { first = 1, modes = "common", print }
local added, message, code = loop:add_common_mode(mode)
assert(added == nil and code == "EEXIST", tostring(code))
assert(message:find "^loop:add_common_mode: .*first", message)
assert(loop:contains(timer, mode) and not loop:contains(second, mode))
assert(loop:add_common_mode(mode) == true)
first:invalidate()
second:invalidate()
close(from)
close(to)
