-- W7: bytes of private memory for a far timer, an idle descriptor, a sleeping task.
local floor, bench = require "floor", require "harness"
local kind, count = arg[1], tonumber(arg[2])
local pipes = kind == "descriptor" and bench.pipes(count)

local function never() end

local make = {
  timer = function() for _ = 1, count do floor.object_after(1000, never) end end,
  descriptor = function() for _, pipe in ipairs(pipes) do floor.readable(pipe.from, never) end end,
  task = function()
    local function nap() floor.sleep(1000) end
    for _ = 1, count do floor.task(nap) end
  end,
}
bench.memory(count, make[kind], function(measure)
  floor.after(0.1, function() measure(); os.exit(0) end)
  floor.run()
end)
