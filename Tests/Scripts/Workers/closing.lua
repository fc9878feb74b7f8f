-- A worker that is stopped closes what it holds: `<close>` variables of its chunk, its handlers
-- and its tasks, in the order of scopes; messages that it sends then still arrive.
local ml = require "moonloop"
local loop = ml.current()
local source = [[
  local ml = require "moonloop"
  local loop = ml.current()
  local function guard(name)
    return setmetatable({}, { __close = function() ml.parent:send("closed " .. name) end })
  end
  loop:task(function(scope)
    local outer <close> = guard "outer of task"
    scope:task(function()
      local inner <close> = guard "child"
      ml.sleep(math.huge)
    end)
    local inner <close> = guard "inner of task"
    ml.sleep(math.huge)
  end)
  loop:after(0, function()
    local own <close> = guard "handler"
    ml.sleep(math.huge)
  end)
  loop:after(0.01, function() ml.parent:send "ready" end)
  local own <close> = guard "chunk"
  ml.sleep(math.huge)
]]
for _, ending in ipairs { "stop", "close" } do
  local heard = {}
  loop:task(function()
    local worker = assert(ml.worker { name = "closing", source = source })
    local ready = false
    worker.port:on("message", function(message)
      if message == "ready" then ready = true else heard[#heard + 1] = message end
    end)
    while not ready do ml.sleep(0.001) end
    if ending == "stop" then
      worker:stop()
      assert(select(3, worker:await()) == "ECANCELED")
    else
      local ends <close> = worker
    end
    while worker.port:is_valid() do ml.sleep(0.001) end
  end):wait { mode = "default" }
  table.sort(heard)
  assert(table.concat(heard, ", ") == "closed child, closed chunk, closed handler, "
    .. "closed inner of task, closed outer of task", table.concat(heard, ", "))
end
