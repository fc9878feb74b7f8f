-- Finds the spec files: those named, and those in folders whose names match.
local bed = require "moonloop.testing.bed"

local discover = {}

local function matches(name, patterns)
  for _, pattern in ipairs(patterns) do
    if pattern ~= "" and name:find(pattern) then return true end
  end
  return false
end

local function join(folder, name)
  if folder == "." then return name end
  return folder:sub(-1) == "/" and folder .. name or folder .. "/" .. name
end

local function collect(found, folder, options)
  local entries, message = bed.files(folder)
  if not entries then return nil, message end
  table.sort(entries, function(a, b) return a.name < b.name end)
  for _, entry in ipairs(entries) do
    local name = entry.name
    local path = join(folder, name)
    -- Hidden folders belong to tools; a hidden spec must be named.
    if name:sub(1, 1) ~= "." then
      if entry.kind == "directory" then
        if options.recursive then collect(found, path, options) end
      elseif entry.kind == "file" and name:find("%.lua$") and matches(name, options.pattern)
        and not matches(name, options.exclude_pattern) then
        found[#found + 1] = path
      end
    end
  end
  return true
end

--- The spec files of some paths, in order.
-- @param paths files, which do not have to match, and folders
-- @return a list; or nil and a message
function discover.find(paths, options)
  local found, known = {}, {}
  local all = {}
  for _, path in ipairs(paths) do
    path = #path > 1 and path:gsub("/+$", "") or path
    local here = {}
    if not collect(here, path, options) then
      local file, message = io.open(path, "r")
      if not file then return nil, ("cannot find the file or folder '%s'"):format(path), message end
      file:close()
      here = { path }
    end
    table.move(here, 1, #here, #all + 1, all)
  end
  for _, path in ipairs(all) do
    if not known[path] then found[#found + 1] = path end
    known[path] = true
  end
  return found
end

return discover
