-- Kills workers and the broker while jobs are submitted and done, and compares the ledgers: every
-- job is begun, none is acknowledged twice, and none is begun after it was acknowledged.
--   moonloop run ledger.lua PROGRAM COUNT
local ml = require "moonloop"
local loop = ml.current()

local program, count = arg[1], math.tointeger(arg[2])
local scripts = arg[0]:match "^(.*/)" or "./"
local WORKERS = 3

local folder, over, server
local workers, ledgers, kills, restarts, is_over = {}, {}, 0, 0, false

-- With "everysec" the broker answers before it has written while the disk is busy with the last
-- second. To outlive its process, what was answered need not be on the disk.
local function start_server()
  server = assert(ml.process.spawn { "redis-server", "--port", "0", "--unixsocket", folder .. "/s",
    "--dir", folder, "--appendonly", "yes", "--appendfsync", "no", "--save", "", stdout = "null" })
end

local function start(script, ...)
  local command = { program, "run", scripts .. script, over, ... }
  command.stdout, command.stderr = "null", "null"
  return assert(ml.process.spawn(command))
end

local function start_worker(place)
  ledgers[#ledgers + 1] = ("%s/ledger.%d"):format(folder, #ledgers + 1)
  workers[place] = start("work.lua", ledgers[#ledgers])
end

local function ledger_size()
  local size = 0
  for _, path in ipairs(ledgers) do size = size + (ml.fs.stat(path) or { size = 0 }).size end
  return size
end

-- However slow the machine is, a sixtieth of all is done between two kills: a job has 60 bytes.
local function let_work(seconds)
  local enough = ledger_size() + count
  repeat ml.sleep(0.1) until is_over or ledger_size() > enough
  if not is_over then ml.sleep(seconds) end
end

local function kill_workers()
  while true do
    let_work(0.5 + math.random())
    if is_over then return end
    local place = math.random(WORKERS)
    workers[place]:kill "kill"
    workers[place]:await()
    kills = kills + 1
    start_worker(place)
  end
end

local function kill_server()
  while true do
    let_work(1 + 2 * math.random())
    if is_over then return end
    server:kill "kill"
    server:await()
    restarts = restarts + 1
    ml.sleep(0.3)
    start_server()
  end
end

-- Nothing goes on after a failure.
function loop.on_error(problem)
  is_over = true
  io.stderr:write(problem.message, "\n", problem.traceback or "", "\n")
  for _, worker in ipairs(workers) do worker:kill "kill" end
  server:kill "kill"
  os.exit(1, true)
end

-- The last beginning and the acknowledgement of each job, and how many were acknowledged twice.
local function read_ledgers()
  local begun, done, twice = {}, {}, 0
  for _, path in ipairs(ledgers) do
    for line in (ml.fs.read(path) or ""):gmatch "[^\n]+" do
      local what, number, time = line:match "^(%a+) (%d+) ([%d.]+)$"
      number, time = assert(math.tointeger(number)), tonumber(time)
      if what == "start" then
        begun[number] = math.max(begun[number] or 0, time)
      elseif what == "done" then
        if done[number] then twice = twice + 1 end
        done[number] = time
      end
    end
  end
  return begun, done, twice
end

loop:task(function()
  folder = assert(ml.fs.temporary_folder())
  over = "redis+unix://" .. folder:gsub("/", "%%2F") .. "%2Fs"
  start_server()
  for place = 1, WORKERS do start_worker(place) end
  local half = count // 2
  local submitters = { start("submit.lua", 1, half), start("submit.lua", half + 1, count) }
  local killers = { loop:task(kill_workers), loop:task(kill_server) }
  for _, submitter in ipairs(submitters) do assert(submitter:await().code == 0) end
  is_over = true
  for _, killer in ipairs(killers) do killer:await() end
  do
    local jobs <close> = ml.port { name = "jobs", over = over }
    repeat ml.sleep(0.1) until jobs:count() == 0
  end
  for _, worker in ipairs(workers) do worker:kill "term"; worker:await() end
  server:kill "term"
  server:await()
  local begun, done, twice = read_ledgers()
  local lost, late = 0, 0
  for number = 1, count do
    if not begun[number] then lost = lost + 1 end
    if done[number] and begun[number] > done[number] then late = late + 1 end
  end
  print(("%d jobs: %d lost, %d acknowledged twice, %d begun after that"):format(count, lost, twice,
    late))
  io.stderr:write(("workers killed: %d, brokers killed: %d\n"):format(kills, restarts))
  ml.fs.remove(folder, { recursive = true })
end)
