-- W7: bytes of private memory for an idle descriptor and a sleeping task, both a waiting coroutine.
local cqueues, bench = require "cqueues", require "harness"
local kind, count = arg[1], tonumber(arg[2])
local pipes = kind == "descriptor" and bench.pipes(count)
local queue = cqueues.new()

local make = {
  descriptor = function()
    local function wait(from) cqueues.poll { pollfd = from, events = "r" } end
    for _, pipe in ipairs(pipes) do queue:wrap(wait, pipe.from) end
  end,
  task = function()
    local function nap() cqueues.sleep(1000) end
    for _ = 1, count do queue:wrap(nap) end
  end,
}
bench.memory(count, make[kind], function(measure)
  queue:wrap(function() cqueues.sleep(0.1); measure(); os.exit(0) end)
  assert(queue:loop())
end)
