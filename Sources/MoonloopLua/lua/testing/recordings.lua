-- Recordings of spec files: kept where something failed.
local recordings = {}

--- The path of the recording of a file.
-- @param number its place among the files, since several may have the same name
function recordings.path(folder, number, file)
  local name = file:match("([^/]+)$"):gsub("%.lua$", "")
  return ("%s/%s-%d.mlt"):format(folder:gsub("/$", ""), name, number)
end

local function has_failed(record)
  return record.type == "problem"
    or record.type == "test" and record.status ~= "success" and record.status ~= "pending"
end

-- Whether there is one: it is empty where the disk is full.
local function exists(path)
  local file = io.open(path, "rb")
  local size = file and file:seek("end") or 0
  if file then file:close() end
  return size > 0
end

--- Notes a recording in the records of what failed; removes it if nothing did.
function recordings.settle(path, records)
  local is_wanted = false
  if not exists(path) then
    os.remove(path)
    return
  end
  for _, record in ipairs(records) do
    if has_failed(record) then
      is_wanted = true
      record.recording = path
    end
  end
  if not is_wanted then os.remove(path) end
end

return recordings
