-- Planted: methods called with a dot.
local ml = require "moonloop"
local loop = ml.current()
loop.every(1, print)
ml.current().stop()
loop:every(1, function(timer) timer.invalidate() end)
local server = ml.net.listen { port = 0, print }
server.invalidate()
-- Not mistakes: the handle is passed, the table is the script's own, or the name has two meanings.
local timer = loop:after(1, print)
timer.invalidate(timer)
local cache = {}
function cache.invalidate() cache = {} end
cache.invalidate()
local port = loop:port {}
local function forget(port) port.invalidate() end
forget(cache)
pcall(loop.every, loop, 1, print)
