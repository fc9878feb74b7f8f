-- Waiting for a child where Lua cannot suspend: by a nested run.
local ml = require "moonloop"
local loop = ml.current()

local function status(script, options)
  return assert(ml.process.spawn { "sh", "-c", script }):wait(options)
end
assert(status("exit 3").code == 3)

local order = { 2, 1 }
table.sort(order, function(a, b) return status("exit " .. a).code < status("exit " .. b).code end)
assert(order[1] == 1)

-- Nothing else is served meanwhile, unless the mode says so.
local ticks = 0
local timer <close> = loop:timer { first = 0, every = 60, function() ticks = ticks + 1 end }
loop:task(function()
  ticks = 0
  timer.next_fire = ml.now()
  status "sleep 0.02"
  assert(ticks == 0)
  status("sleep 0.02", { mode = "default" })
  assert(ticks > 0)
  timer:invalidate()
end):wait()

local p = assert(ml.process.spawn { "cat", stdin = "pipe" })
local found, message, code = p:wait { timeout = -1 }
assert(found == nil and message:find "^timed out: waited for" and code == "ETIMEDOUT")
p.stdin:close()
assert(p:wait().code == 0)
-- No wait for an exit is left over.
assert(not loop:dump():find "wait")
