-- An item with keep_alive(false) does not keep a run going (D6).
local ml = require "moonloop"
local loop = ml.current()
local source = loop:source { perform = print }:keep_alive(false)
local port = loop:port { keep_alive = false, print }
local timer = loop:every(1, print):keep_alive(false)
assert(loop:run() == "finished")
source:keep_alive(true)
assert(loop:run { timeout = 0.5 } == "timed_out")
source:invalidate() port:invalidate() timer:invalidate()
