-- A descriptor that was closed behind the loop's back is reported to the handle's on_error; the
-- loop goes on.
local ml = require "moonloop"
local loop = ml.current()
-- Numbers far above those that other threads get, so that none of them opens one again at once.
local low = {}
for i = 1, 300 do low[i] = open_file "/dev/null" end
local from, to = pipe()
for _, number in ipairs(low) do close(number) end
local told, fired
local fd = loop:fd { fd = from, name = "victim", read = print, on_error = function(e) told = e end }
close(from)
loop:after(100, function() fired = true end)
assert(loop:run { timeout = 200 } == "finished")
assert(fired and not fd:is_valid())
assert(told.code == "EBADF" and told.message:find "was closed while it was watched", told.message)
assert(told.handle:find "fd 'victim' %(made at .*closed.lua:11%)", told.handle)
close(to)
