-- W10: tasks that sleep ten times, up to 100 ms each time.
local floor, bench = require "floor", require "harness"
local tasks, nap = bench.scaled(1e5), bench.nap
local left = tasks

for i = 1, tasks do
  floor.task(function()
    for turn = 1, 10 do floor.sleep(nap(i, turn)) end
    left = left - 1
    if left == 0 then bench.stop(tasks * 10); os.exit(0) end
  end)
end
bench.start()
floor.run()
