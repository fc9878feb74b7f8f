-- W1b, W1c: one coroutine, or a hundred, that sleep no time again and again.
local cqueues, bench = require "cqueues", require "harness"
local chains, queue, sleep = tonumber(arg[1]), cqueues.new(), cqueues.sleep
local fires, last = 0, bench.scaled(1e6)

for _ = 1, chains do
  queue:wrap(function()
    while fires < last do
      sleep(0)
      fires = fires + 1
      if fires == last then bench.stop(fires); os.exit(0) end
    end
  end)
end
local idle = bench.idle_descriptor()
if idle then queue:wrap(function() cqueues.poll { pollfd = idle, events = "r" } end) end
bench.start()
assert(queue:loop())
