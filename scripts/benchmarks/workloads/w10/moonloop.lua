-- W10: tasks that sleep ten times, up to 100 ms each time.
local ml, bench = require "moonloop", require "harness"
local loop, tasks, naps = ml.current(), bench.scaled(1e5), bench.naps
local left = tasks

for i = 1, tasks do
  loop:task(function()
    for turn = 1, 10 do ml.sleep(naps[(i * 31 + turn * 97) % bench.nap_count + 1]) end
    left = left - 1
    if left == 0 then bench.stop(tasks * 10); os.exit(0) end
  end)
end
bench.start()
loop:run()
