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

--- The full names of the tests that failed in the last run; nil if none was kept.
function memory.failed()
  local folder, name = path_of(bed.working_folder())
  local file = io.open(folder .. name, "r")
  if not file then return nil end
  local names = {}
  for line in file:lines() do names[#names + 1] = line end
  file:close()
  return names
end

--- Keeps the names of the tests that failed.
local function keep(names)
  local folder, name = path_of(bed.working_folder())
  if #names == 0 then
    os.remove(folder .. name)
    return
  end
  if not bed.make_folders(folder) then return end
  local file = io.open(folder .. name, "w")
  if not file then return end  -- it is a convenience
  for _, one in ipairs(names) do file:write(one, "\n") end
  file:close()
end

--- A reporter that keeps what failed. A name with a line break is not kept.
function memory.new()
  local names, seen = {}, {}
  return { record = function(_, record)
    if record.type == "end" then return keep(names) end
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
