-- Blocks are performed once, in the order of adding, in one pass, with their arguments (D13).
local ml = require "moonloop"
local loop = ml.current()
local trace = {}
local function log(...) trace[#trace + 1] = table.concat({ ... }, ",") end
loop:perform(log, "a")
local cancelled = loop:perform(log, "never")
loop:perform({ modes = { "default", "tracking" } }, function(...)
  log("b", select("#", ...))
  loop:perform(log, "later")
end, nil, 1, nil)
loop:perform({ modes = "tracking" }, log, "tracking")
assert(cancelled:is_pending() and cancelled:cancel())
assert(not cancelled:is_pending() and not cancelled:cancel())
assert(loop:run() == "finished")
assert(table.concat(trace, " ") == "a b,3 later", table.concat(trace, " "))
assert(loop:run "tracking" == "finished")
assert(trace[4] == "tracking")
