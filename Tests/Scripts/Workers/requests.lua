-- A worker answers requests; the owner's task waits, and everything else goes on meanwhile.
local ml = require "moonloop"
local loop = ml.current()
local worker = assert(ml.worker { name = "doubler", args = { factor = 2 }, source = [[
  local ml = require "moonloop"
  local args = ...
  ml.parent:on("message", function(message, reply)
    if message == "late" then ml.sleep(5) end
    if message == "never" then return end
    reply(type(message) == "number" and message * args.factor or message)
  end)
]] })
local ticks = 0
local ticker = loop:every(1, function() ticks = ticks + 1 end)
assert(worker.status == "running" and worker.port:is_valid())
local job = loop:task(function()
  assert(worker.port:request(21) == 42 and ticks == 0)
  local start = ml.now()
  assert(worker.port:request "late" == "late")
  -- The reply and the fifth tick come at the same moment on two threads, so either may be first.
  assert(ml.now() - start == 5 and (ticks == 4 or ticks == 5), ticks)
  local reply, message, code = worker.port:request("late", { timeout = 2 })
  assert(reply == nil and message == "no reply within 2 s" and code == "ETIMEDOUT", message)
  -- Where Lua cannot wait, nothing else is served.
  local before = ticks
  table.sort({ 1, 2 }, function() assert(worker.port:request(4) == 8) return false end)
  assert(ticks == before)
  worker:stop()
  local value, text, why = worker:await()
  assert(value == nil and why == "ECANCELED" and text:find "worker 'doubler' .* was stopped", text)
  assert(select(3, worker.port:request(1)) == "EPIPE")
  assert(worker.status == "stopped" and not worker:is_valid() and not worker.port:is_valid())
end)
job:wait { timeout = 100, mode = "default" }
ticker:invalidate()
