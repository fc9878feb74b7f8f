-- A delayed request is a timer that can be cancelled (R114, R115); its block may wait.
local ml = require "moonloop"
local loop = ml.current()
local start, trace = ml.now(), {}
local function log(text) trace[#trace + 1] = text .. ("@%.1f"):format(ml.now() - start) end
loop:perform_after(1, log, "one")
loop:perform_after({ after = 2, modes = "common" }, function() ml.sleep(0.5) log "two" end)
loop:perform_after(3, log, "never"):cancel()
do local brief <close> = loop:perform_after(4, log, "closed") end
loop:perform_after(0, log, "zero")
assert(loop:run() == "finished")
assert(table.concat(trace, " ") == "zero@0.0 one@1.0 two@2.5", table.concat(trace, " "))
