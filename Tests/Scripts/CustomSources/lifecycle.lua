-- Schedule and cancel are called for each mode; perform for the signal (D9, D10).
local ml = require "moonloop"
local loop = ml.current()
local trace = {}
local function log(...) trace[#trace + 1] = table.concat({ ... }, " ") end
local source = ml.source {
  name = "commands",
  schedule = function(self, where, mode) assert(where == loop) log("schedule", self.name, mode) end,
  cancel = function(self, where, mode) assert(where == loop) log("cancel", self.name, mode) end,
  perform = function(self) log("perform", tostring(self.signalled)) end,
}
loop:add(source, "default")
loop:add(source, "default")
loop:add(source, "other")
source:signal()
source:signal()
assert(source.signalled)
assert(loop:run { timeout = 0 } == "timed_out")
assert(not source.signalled and source.fires >= 1)
loop:remove(source, "other")
source:invalidate()
assert(table.concat(trace, "; ") == "schedule commands default; schedule commands other; "
  .. "perform false; cancel commands other; cancel commands default", table.concat(trace, "; "))
