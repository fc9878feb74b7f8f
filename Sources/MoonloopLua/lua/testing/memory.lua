-- What is kept between two runs in the same folder: the names of the tests that failed.
local bed = require "moonloop.testing.bed"

local memory = {}

-- The file of a folder, in the user's folder of states.
local function path_of(folder)
  local state = os.getenv "XDG_STATE_HOME"
  if not state or state == "" then state = (os.getenv "HOME" or "") .. "/.local/state" end
  local name = folder:gsub("[%%/]", { ["%"] = "%25", ["/"] = "%" })
  return state .. "/moonloop/failed-tests", "/" .. name
end

--- The full names of the tests that failed in the last run; or nil and a message.
function memory.failed()
  local folder, name = path_of(bed.working_folder())
  local file, message, code = io.open(folder .. name, "r")
  if not file then
    if code == 2 then message = "no run in this folder is remembered; run the tests first" end
    return nil, "--rerun-failed: " .. message
  end
  local names = {}
  for line in file:lines() do names[#names + 1] = line end
  file:close()
  return names
end

-- Keeps the names of the tests that failed; returns true, or nil and a message.
local function keep(names)
  local folder, name = path_of(bed.working_folder())
  local ok, message = bed.make_folders(folder)
  if not ok then return nil, message end
  local text = table.concat(names, "\n") .. (#names > 0 and "\n" or "")
  ok, message = bed.write_file(folder .. name, text)
  if ok then return true end
  os.remove(folder .. name)
  return nil, message
end

--- A reporter that keeps what failed. A name with a line break is not kept.
function memory.new()
  local names, seen = {}, {}
  return { record = function(_, record)
    if record.type == "end" then
      local ok, message = keep(names)
      if ok or #names == 0 then return end
      io.stderr:write("moonloop: test: --rerun-failed will not know what failed: ", message, "\n")
      return
    end
    if record.type ~= "test" or record.status == "success" or record.status == "pending" then
      return
    end
    if not seen[record.name] and not record.name:find "\n" then
      seen[record.name] = true
      names[#names + 1] = record.name
    end
  end }
end

return memory
