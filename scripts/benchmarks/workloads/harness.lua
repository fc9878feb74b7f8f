-- What the workloads share: how much to do, the two clocks, the line of JSON that the runner reads.
local probe = require "probe"

local bench = { probe = probe }
local scale = tonumber(os.getenv "BENCH_SCALE") or 1

-- How often to do a thing: a tenth and less of it in a quick run.
function bench.scaled(operations)
  return math.max(1, math.floor(operations * scale))
end

-- Far dates in seconds, scattered, the same for every peer: a prime number of them.
bench.far_count = 1021
bench.far = {}
do
  local seed = 1
  for i = 1, bench.far_count do
    seed = seed * 48271 % 2147483647
    bench.far[i] = 1000 + seed % 9000
  end
end

-- The `turn`-th sleep of the `i`-th task, in seconds: up to 100 ms, scattered over 100,003 values.
function bench.nap(i, turn)
  return (i * 61803 + turn * 31607) % 100003 / 1e6
end

-- The interval of a timer of W1a in milliseconds.
function bench.interval(i)
  return tonumber(arg[1]) or i % 10 + 1
end

-- The reading end of a pipe that nothing is written to, if the row wants one; else nil.
function bench.idle_descriptor()
  return arg[2] == "fd" and bench.pipes(1)[1].from or nil
end

-- A step that visits each of 1 to `count` once, each far from the last: for 10, 1,000 and 100,000.
function bench.stride(count)
  return count * 61803 // 100000 | 1
end

-- The places of 1 to `count` in a random order, the same for every peer, or in turn.
function bench.order(count, is_random)
  local places, seed = {}, 1
  for i = 1, count do places[i] = i end
  for i = count, is_random and 2 or count + 1, -1 do
    seed = seed * 48271 % 2147483647
    local j = seed % i + 1
    places[i], places[j] = places[j], places[i]
  end
  return places
end

-- Pipes as { from, to }, neither end blocking.
function bench.pipes(count)
  local pipes = {}
  for i = 1, count do
    local from, to = probe.pipe()
    pipes[i] = { from = from, to = to }
  end
  return pipes
end

function bench.report(fields)
  local names, parts = {}, {}
  for name in pairs(fields) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do parts[i] = ('"%s": %.3f'):format(name, fields[name]) end
  print("{" .. table.concat(parts, ", ") .. "}")
  io.stdout:flush()
end

local cpu, wall

function bench.start()
  collectgarbage()
  wall, cpu = probe.wall(), probe.cpu()
  probe.count(true)
end

-- Reports the nanoseconds of one operation since start(), by both clocks, and how many there were.
function bench.stop(operations)
  probe.count(false)
  local cpu_end, wall_end = probe.cpu(), probe.wall()
  bench.report {
    cpu = (cpu_end - cpu) / operations, wall = (wall_end - wall) / operations,
    operations = operations,
  }
end

-- Reports what each of `count` things costs in memory: private pages now, less those before make().
function bench.memory(count, make, measure_when)
  collectgarbage(); collectgarbage()
  local before = probe.memory()
  make()
  measure_when(function()
    collectgarbage(); collectgarbage()
    bench.report { bytes = (probe.memory() - before) / count }
  end)
end

-- Returns what reports the sleeps and the CPU time since now, less the one sleep that is due.
function bench.idle()
  local switches, cpu_before = probe.switches(), probe.cpu()
  return function()
    bench.report {
      wakeups = probe.switches() - switches - 1,
      cpu_ms = (probe.cpu() - cpu_before) / 1e6,
    }
  end
end
bench.idle_seconds = scale < 1 and 1 or 5

-- How late a repeating timer of 1 ms is: time since the last point of its grid, begun at `start`.
function bench.lateness(start, fires, finished)
  local late = {}
  return function()
    late[#late + 1] = (probe.wall() - start) % 1000000
    if #late == fires then
      table.sort(late)
      bench.report { p50 = late[fires // 2 + 1] / 1e3, p99 = late[fires * 99 // 100 + 1] / 1e3 }
      finished()
    end
  end
end

-- Where a server listens: clients of another process come to it.
bench.port = tonumber(os.getenv "BENCH_PORT") or 0

-- The page of W12; its last byte ends an answer.
bench.page = "hello, world~"

-- W7: the memory of so many connections of another process, each of which has said one thing.
-- `serve(heard, finish)` serves them, tells the bytes that came, and returns what calls `finish` a
-- little later.
local crowd
function bench.connections(port, serve)
  local count, before = tonumber(arg[1]), nil
  local left, later = count * 64, nil
  later = serve(function(bytes)
    left = left - bytes
    if left == 0 then later() end
  end, function()
    collectgarbage(); collectgarbage()
    bench.report { bytes = (probe.memory() - before) / count }
    os.exit(0, false)
  end)
  collectgarbage(); collectgarbage()
  before = probe.memory()
  crowd = assert(io.popen(("exec %s 0 %d %d %d 64 0"):format(
    os.getenv "BENCH_CLIENTS", port, count, count)))
end

-- Takes `count` times in nanoseconds, then reports their middle in microseconds.
function bench.times(count, finished)
  local times = {}
  return function(time)
    times[#times + 1] = time
    if #times == count then
      table.sort(times)
      bench.report { p50 = times[count // 2 + 1] / 1e3, p99 = times[count * 99 // 100 + 1] / 1e3 }
      finished()
    end
  end
end

-- W17: 200 MB of live data, and how late a handler that makes garbage has ended: after the date
-- that its last begin plus 10 ms gives. A pause of the collector is in it, wherever it falls.
local live
function bench.beside_live_data(finished)
  live = {}
  collectgarbage "stop"
  for i = 1, bench.scaled(1.2e6) do live[i] = { id = i, name = "item " .. i } end
  collectgarbage "restart"
  collectgarbage(os.getenv "BENCH_GC" or "incremental")
  collectgarbage()
  local late, last, fires = {}, nil, bench.scaled(1000)
  return function()
    local begin = probe.wall()
    for i = 1, 4000 do local _ = { id = i } end
    if last then late[#late + 1] = math.max(0, probe.wall() - last - 10000000) / 1e6 end
    last = begin
    if #late < fires then return end
    table.sort(late)
    bench.report { p50 = late[fires // 2 + 1], p99 = late[fires * 99 // 100 + 1],
      p999 = late[fires * 999 // 1000 + 1], mb = collectgarbage "count" / 1024 }
    finished()
  end
end

-- Reports the CPU nanoseconds of one call, less an empty turn of the loop, for each named loop(n).
function bench.calls(loops, most)
  local turns, costs = bench.scaled(most or 3e6), {}
  local function cost(loop)
    local before = probe.cpu()
    loop(turns)
    return (probe.cpu() - before) / turns
  end
  local empty = cost(function(n) for _ = 1, n do end end)
  for name, loop in pairs(loops) do costs[name] = cost(loop) - empty end
  bench.report(costs)
end

return bench
