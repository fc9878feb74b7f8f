-- Workers: the program started again to run some of the files. Its arguments and its results.
local bed = require "moonloop.testing.bed"
local ml = require "moonloop"
local json = require "moonloop.json"

local worker = {}

-- Options that concern only the program that starts workers.
local not_passed = {
  jobs = true, watch = true, output = true, ["shuffle-files"] = true, directory = true,
  Xoutput = true, ["log-success"] = true, shard = true, bail = true, ["defer-print"] = true,
  durations = true, record = true,
}

-- This program: where /proc is not mounted, what it was called by.
local function program()
  local own <close> = io.open("/proc/self/exe", "rb")
  if own then return "/proc/self/exe" end
  local place = 0
  while arg[place - 1] do place = place - 1 end
  return arg[place]
end

--- The arguments of a worker.
-- @param given the options as given, a list of { name, value }
-- @param files the spec files to run
-- @param path where it writes its records, as JSON lines
-- @param recording the path of its recording; nil: it is not recorded
function worker.arguments(given, files, path, recording)
  local list = { program(), "test", "--jobs", "1" }
  local function add(...)
    for _, text in ipairs({ ... }) do list[#list + 1] = text end
  end
  add("--output", "json=" .. path, "--log-success=")
  if recording then add("--record", recording) end
  for _, option in ipairs(given) do
    local name, value = option[1], option[2]
    if not not_passed[name] then
      local dashes = (name == "e" or name == "Xhelper") and "-" or "--"
      if value == false then
        add("--no-" .. name)
      elseif value == true then
        add(dashes .. name)
      else
        add(dashes .. name, value)
      end
    end
  end
  add "--"
  add(table.unpack(files))
  return list
end

--- Whether the options are those of a worker.
function worker.is_one(given)
  for _, option in ipairs(given) do
    if option[1] == "log-success" and option[2] == "" then return true end
  end
  return false
end

--- Reads the records of a worker.
-- @return the records, and whether it finished
function worker.records(path)
  local records, has_ended = {}, false
  local file = io.open(path, "r")
  if not file then return records, false end
  for line in file:lines() do
    local record = json.decode(line)
    -- The last line of a killed worker may be incomplete.
    if type(record) == "table" then
      has_ended = has_ended or record.type == "end"
      records[#records + 1] = record
    end
  end
  file:close()
  return records, has_ended
end

-- The name of the test that had begun and not ended; nil if there is none.
local function running_test(records)
  local name
  for _, record in ipairs(records) do
    if record.type == "test_start" then name = record.name end
    if record.type == "test" then name = nil end
  end
  return name
end

-- Seconds within which signals count as one: `timeout` signals the program, then its group.
local TOGETHER = 0.1

--- Makes SIGINT and SIGTERM end workers, which then end what they have begun and report. A second
-- signal ends everything at once.
-- @param running the processes, as keys
-- @param hear called with the number of the first signal
-- @return what to close afterwards
function worker.forward(running, hear)
  local heard_at
  local numbers = { int = 2, term = 15 }
  local function forward(_, name)
    if heard_at and bed.monotonic() - heard_at < TOGETHER then return end
    for process in pairs(running) do process:kill(heard_at and "kill" or name) end
    if heard_at then bed.end_program(numbers[name]) end
    heard_at = bed.monotonic()
    hear(numbers[name])
  end
  return ml.current():signal { { "int", "term" }, forward, keep_alive = false }
end

--- Starts a worker in its own process group: a terminal's Ctrl-C reaches it through us.
-- @return the process
function worker.spawn(options)
  options.group = true
  local process, message = ml.process.spawn(options)
  if not process then error("cannot start a worker: " .. message, 0) end
  return process
end

--- Runs some files in a worker, to its end.
-- @param running the running processes, as keys
-- @return its records, its standard output and error, and how it ended
function worker.run(given, files, running, recording)
  local folder <close> = worker.folder()
  local path = folder.path .. "/records"
  local options = worker.arguments(given, files, path, recording)
  options.name = "worker of " .. files[1]
  options.stdout, options.stderr = "pipe", "pipe"
  local process = worker.spawn(options)
  running[process] = true
  local errors = ml.current():task(function() return process.stderr:read "a" end)
  local text = process.stdout:read "a"
  local result = process:await()
  running[process] = nil
  result.stdout, result.stderr = text or "", errors:await() or ""
  local records, has_ended = worker.records(path)
  if not has_ended then
    local how = result.signal and "was killed by SIG" .. result.signal:upper()
      or ("ended with status %d"):format(result.code or -1)
    local name = running_test(records)
    records[#records + 1] = {
      type = "problem", file = files[1], name = files[1],
      problem = { status = "error", kind = "worker", traceback = "",
        message = ("its process %s before it was done%s"):format(how,
          name and (", in the test '%s'"):format(name) or "") },
    }
  end
  return records, result
end

--- A temporary folder that is removed at the end of its scope.
function worker.folder()
  local path = assert(bed.make_folder())
  return setmetatable({ path = path }, { __close = function() bed.remove_folder(path) end })
end

return worker
