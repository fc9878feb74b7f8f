-- Runs spec files in parallel, each in its own process; reports in the order of the files.
local ml = require "moonloop"
local recordings = require "moonloop.testing.recordings"
local worker = require "moonloop.testing.worker"

local jobs = {}

-- Records of a worker that the overall reporters must not get.
local own = { start = true, ["end"] = true }

local function feed(run, records, result)
  io.stdout:write(result.stdout)
  io.stdout:flush()
  io.stderr:write(result.stderr)
  for _, record in ipairs(records) do
    if not own[record.type] then run.report:record(record) end
  end
end

-- Whether no more files may start.
local function is_enough(options, counts)
  local failed = counts.failure + counts.error + counts.problems
  return failed >= (options.keep_going and options.bail or options.keep_going and math.huge or 1)
end

--- Runs the files.
-- @param run the runner, whose reporters get all records
-- @param given the options as given
function jobs.run(run, given, files)
  local options = run.options
  local next_file, next_told, done, running = 1, 1, {}, {}
  local signals <close> = worker.forward(running, function(number) run.signal = number end)
  local function tell()
    while done[next_told] do
      feed(run, table.unpack(done[next_told]))
      done[next_told] = false
      next_told = next_told + 1
    end
  end
  local function work()
    while next_file <= #files do
      run.is_cut = is_enough(options, run.report.counts)
      if run.is_cut then return end
      if run.signal then return end
      local index = next_file
      next_file = next_file + 1
      local recording = options.records and recordings.path(options.records, index, files[index])
      done[index] = table.pack(worker.run(given, { files[index] }, running, recording))
      if recording then recordings.settle(recording, done[index][1]) end
      tell()
    end
  end
  local tasks = {}
  for index = 1, math.min(options.jobs or 1, #files) do
    tasks[index] = ml.current():task({ name = "job " .. index }, work)
  end
  for _, task in ipairs(tasks) do task:await() end
end

return jobs
