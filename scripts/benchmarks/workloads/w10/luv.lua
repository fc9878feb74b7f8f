-- W10: coroutines that sleep ten times, up to 100 ms each time, by a timer each.
local uv, bench = require "luv", require "harness"
local tasks, nap = bench.scaled(1e5), bench.nap
local left, resume, yield, running = tasks, coroutine.resume, coroutine.yield, coroutine.running

for i = 1, tasks do
  coroutine.wrap(function()
    local timer, own = uv.new_timer(), running()
    local function wake() resume(own) end
    local function sleep(seconds)
      timer:start(math.floor(seconds * 1000), 0, wake)
      yield()
    end
    sleep(0)
    for turn = 1, 10 do sleep(nap(i, turn)) end
    left = left - 1
    if left == 0 then bench.stop(tasks * 10); os.exit(0) end
  end)()
end
bench.start()
uv.run()
