-- W9: how late a coroutine that sleeps until the next point of a grid of 1 ms is.
local cqueues, bench = require "cqueues", require "harness"
local queue = cqueues.new()

queue:wrap(function()
  local start = bench.probe.wall()
  local note = bench.lateness(start, bench.scaled(1000), function() os.exit(0) end)
  while true do
    cqueues.sleep((1000000 - (bench.probe.wall() - start) % 1000000) / 1e9)
    note()
  end
end)
assert(queue:loop())
