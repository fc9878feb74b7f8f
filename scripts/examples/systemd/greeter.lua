-- A service for systemd: it opens no socket itself, and says how many guests it has had.
-- The units beside this file start it when the first guest comes.
local ml = require "moonloop"

local guests = 0
assert(ml.net.listen { fd = "systemd", name = "door",
  function(stream)
    guests = guests + 1
    ml.process.notify("STATUS=" .. guests .. " guests")
    stream:write("Good day, guest " .. guests .. ".\n"):close()
  end })
print "open"
