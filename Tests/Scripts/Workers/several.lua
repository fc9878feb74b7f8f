-- ml.workers: several workers with one script start, end and fail together.
local ml = require "moonloop"
local loop = ml.current()

local function asleep(options)
  options.source = "require('moonloop').sleep(1e6)"
  return options
end

loop:task(function()
  local workers = assert(ml.workers(3, {
    args = function(number) return number * 10 end, source = "local tens = ... return tens + 1" }))
  assert(table.concat(workers:await(), " ") == "11 21 31")
  assert(table.concat(workers:await(), " ") == "11 21 31")  -- as often as one likes
  assert(#workers == 3 and tostring(workers) == "3 workers")

  -- What is awaited in the same pass is not reported.
  workers = assert(ml.workers(2, { source = "error('at once', 0)" }))
  local message = select(2, pcall(workers.await, workers))
  assert(message == "at once", message)

  -- The first failure stops the others.
  workers = assert(ml.workers(3, { on_error = function() end, args = function(n) return n end,
    source = "if ... == 2 then error('no', 0) end require('moonloop').sleep(1e6)" }))
  local ok, problem = pcall(workers.await, workers)
  assert(not ok and tostring(problem):find "no", problem)
  workers[1]:await()
  assert(workers[1].status == "stopped" and workers[2].status == "failed")

  -- If one cannot be started, those before it are stopped.
  local started = {}
  local real = ml.worker
  ml.worker = function(options)
    started[#started + 1] = assert(real(options))
    return started[#started]
  end
  ok, problem = pcall(ml.workers, 2, asleep { args = function(n) assert(n == 1, "second") end })
  ml.worker = real
  assert(not ok and problem:find "second" and #started == 1)
  started[1]:await()
  assert(started[1].status == "stopped")

  do
    local closed <close> = assert(ml.workers(2, asleep {}))
    workers = closed
  end
  assert(workers[1].status == "stopped" and workers[2].status == "stopped")
end)
loop:run()
