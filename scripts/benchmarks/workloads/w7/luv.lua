-- W7: bytes of private memory for a far timer, an idle descriptor, a sleeping task.
local uv, bench = require "luv", require "harness"
local kind, count = arg[1], tonumber(arg[2])
local pipes = kind == "descriptor" and bench.pipes(count)

local function never() end

local make = {
  timer = function() for _ = 1, count do uv.new_timer():start(1000000, 0, never) end end,
  descriptor = function()
    for _, pipe in ipairs(pipes) do uv.new_poll(pipe.from):start("r", never) end
  end,
  task = function()
    local function nap()
      local task, timer = coroutine.running(), uv.new_timer()
      timer:start(1000000, 0, function() timer:close(); coroutine.resume(task) end)
      coroutine.yield()
    end
    for _ = 1, count do coroutine.resume(coroutine.create(nap)) end
  end,
}
bench.memory(count, make[kind], function(measure)
  uv.new_timer():start(100, 0, function() measure(); os.exit(0) end)
  uv.run()
end)
