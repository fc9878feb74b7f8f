-- W10: tasks that sleep ten times, up to 100 ms each time.
local ml, bench = require "moonloop", require "harness"
local loop, tasks, nap = ml.current(), bench.scaled(1e5), bench.nap
local left = tasks

for i = 1, tasks do
  loop:task(function()
    for turn = 1, 10 do ml.sleep(nap(i, turn)) end
    left = left - 1
    if left == 0 then bench.stop(tasks * 10); os.exit(0) end
  end)
end
bench.start()
loop:run()
