-- What is kept between two runs in the same folder: the tests that failed and have not passed
-- since, a line each: the file, a tab, the full name. A file in which something failed outside of
-- its tests has no name.
local bed = require "moonloop.testing.bed"

local memory = {}

-- The file of a folder, in the user's folder of states.
local function path_of(folder)
  local state = os.getenv "XDG_STATE_HOME"
  if not state or state == "" then state = (os.getenv "HOME" or "") .. "/.local/state" end
  local name = folder:gsub("[%%/]", { ["%"] = "%25", ["/"] = "%" })
  return state .. "/moonloop/failed-tests", "/" .. name
end

--- How a file is named, whichever way a run was given it.
function memory.plain(file)
  local folder = bed.working_folder() .. "/"
  if file:sub(1, #folder) == folder then file = file:sub(#folder + 1) end
  return (file:gsub("^%./", ""))
end

-- The lines of what is kept; or nil, message and code.
local function lines()
  local folder, name = path_of(bed.working_folder())
  local file, message, code = io.open(folder .. name, "r")
  if not file then return nil, message, code end
  local found = {}
  for line in file:lines() do found[#found + 1] = line end
  file:close()
  return found
end

--- The full names of the tests that failed and have not passed since, and a set of the files in
-- which something else did; or nil and a message.
function memory.failed()
  local found, message, code = lines()
  if not found then
    if code == 2 then message = "no run in this folder is remembered; run the tests first" end
    return nil, "--rerun-failed: " .. message
  end
  local names, files = {}, {}
  for _, line in ipairs(found) do
    local file, name = line:match "^(.-)\t(.*)$"
    if name == "" then files[file] = true else names[#names + 1] = name end
  end
  return names, files
end

-- Keeps the lines of tests that failed; returns true, or nil and a message.
local function keep(failed)
  local folder, name = path_of(bed.working_folder())
  local ok, message = bed.make_folders(folder)
  if not ok then return nil, message end
  local text = table.concat(failed, "\n") .. (#failed > 0 and "\n" or "")
  ok, message = bed.write_file(folder .. name, text)
  if ok then return true end
  os.remove(folder .. name)
  return nil, message
end

-- Whether a run is of some tests of its files only, and not of those that had failed.
local function is_part(options)
  local chosen = { "filter", "filter_out", "name", "tags", "exclude_tags", "exclude_names" }
  for _, name in ipairs(options.rerun_failed and {} or chosen) do
    if #options[name] > 0 then return true end
  end
  return options.only
end

--- A reporter that keeps what failed. A name with a line break is not kept.
function memory.new(options)
  local failed, seen, files, broken = {}, {}, {}, {}
  local function note(file, name, has_failed)
    local line = memory.plain(file or "") .. "\t" .. name
    if has_failed and not seen[line] and not line:find "\n" then failed[#failed + 1] = line end
    seen[line] = seen[line] or has_failed
  end
  local takes = {}
  function takes.test(record)
    note(record.file, record.name, record.status == "failure" or record.status == "error")
  end
  function takes.problem(record)
    if not record.file then return end
    broken[memory.plain(record.file)] = true
    note(record.file, "", true)
  end
  function takes.file(record) files[memory.plain(record.file)] = true end
  takes["end"] = function(record)
    -- What a whole run of its file did not find is gone.
    local is_whole = not record.is_cut and not is_part(options)
    for _, line in ipairs(lines() or {}) do
      local file = line:match "^(.-)\t"
      local is_gone = is_whole and files[file] and not broken[file]
      if seen[line] == nil and not is_gone then failed[#failed + 1] = line end
    end
    local ok, message = keep(failed)
    if ok or #failed == 0 then return end
    io.stderr:write("moonloop: test: --rerun-failed will not know what failed: ", message, "\n")
  end
  return { record = function(_, record)
    if takes[record.type] then takes[record.type](record) end
  end }
end

return memory
