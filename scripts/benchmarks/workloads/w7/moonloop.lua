-- W7: bytes of private memory for a far timer, an idle descriptor, a sleeping task.
local ml, bench = require "moonloop", require "harness"
local loop, kind, count = ml.current(), arg[1], tonumber(arg[2])
local pipes = kind == "descriptor" and bench.pipes(count)

local function never() end

local make = {
  timer = function() for _ = 1, count do loop:after(1000, never) end end,
  descriptor = function()
    for _, pipe in ipairs(pipes) do loop:fd { fd = pipe.from, read = never } end
  end,
  task = function()
    local function nap() ml.sleep(1000) end
    for _ = 1, count do loop:task({ owner = "none" }, nap) end
  end,
}
bench.memory(count, make[kind], function(measure)
  loop:after(0.1, function() measure(); os.exit(0) end)
  loop:run()
end)
