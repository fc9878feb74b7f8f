-- The program started again to run some of the files: what it is called with, and what it tells.
local bed = require "moonloop.bed"
local ml = require "moonloop"
local json = require "moonloop.test.json"

local worker = {}

-- What is the business of whoever starts workers.
local not_passed = { jobs = true, watch = true, output = true, ["shuffle-files"] = true }

--- The arguments of a worker.
-- @param given the options as they were given, a list of { name, value }
-- @param files the spec files to run
-- @param path where it is to write what happened, as JSON lines
function worker.arguments(given, files, path)
  local list = { "/proc/self/exe", "test", "--jobs", "1" }
  local function add(...)
    for _, text in ipairs({ ... }) do list[#list + 1] = text end
  end
  add("--output", "json=" .. path)
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

--- Reads what a worker wrote.
-- @return the records, and whether it came to its end
function worker.records(path)
  local records, has_ended = {}, false
  local file = io.open(path, "r")
  if not file then return records, false end
  for line in file:lines() do
    local record = json.decode(line)
    -- The last line of a worker that was killed may be half a line.
    if type(record) == "table" then
      has_ended = has_ended or record.type == "end"
      records[#records + 1] = record
    end
  end
  file:close()
  return records, has_ended
end

--- Runs some files in a worker, to its end.
-- @return its records, what it wrote to its standard streams, and how it ended
function worker.run(given, files)
  local folder <close> = worker.folder()
  local path = folder.path .. "/records"
  local options = worker.arguments(given, files, path)
  options.name = "worker of " .. files[1]
  local result, message = ml.process.run(options)
  if not result then error("cannot start a worker: " .. message, 0) end
  local records, has_ended = worker.records(path)
  if not has_ended then
    local how = result.signal and "was killed by the signal " .. result.signal
      or ("ended with status %d"):format(result.code or -1)
    records[#records + 1] = {
      type = "problem", file = files[1], name = files[1],
      problem = { status = "error", kind = "worker", traceback = "",
        message = ("the process that ran it %s before it was done"):format(how) },
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
