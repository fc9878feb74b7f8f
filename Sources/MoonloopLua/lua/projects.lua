-- `moonloop new KIND NAME`: writes a small project that runs at once.
local ml = require "moonloop"
local json = require "moonloop.json"
local packing = require "moonloop.text.packing"
local spelling = require "moonloop.text.spelling"
local templates = require "moonloop.projects.templates"

local projects = {}

local SUCCESS, FAILURE, USAGE = 0, 1, 2
local KINDS = { "script", "service", "config", "tests", "plugin" }
-- Names that the project's own files have.
local TAKEN = { main = true, moonloop = true, spec = true, busted = true, luassert = true }

local function complain(message, status)
  io.stdout:flush()
  io.stderr:write("moonloop: new: ", message, "\n")
  return status
end

local function folder_of(path) return path:match "^(.*)/[^/]*$" end

-- The folder of the types, beside the program as `scripts/install` puts it; nil if it is not there.
local function installed_types()
  local program = ml.fs.target "/proc/self/exe"
  local prefix = program and program:match "^(.*)/bin/[^/]*$"
  local folder = prefix and prefix .. "/share/moonloop/types"
  return folder and ml.fs.stat(folder) and folder or nil
end

-- The settings of the Lua language server. Where no types are installed, the project has a copy.
local function language_server(files)
  local types = installed_types()
  if not types then
    types = ".types"
    for _, one in ipairs(require "moonloop.console.host".reference()) do
      local text = packing.unpacked(one.text)
      files[#files + 1] = { path = types .. "/" .. one.name .. ".lua", text = text }
    end
  end
  files[#files + 1] = { path = ".luarc.json", text = json.encode({
    ["runtime.version"] = "Lua 5.4",
    ["workspace.library"] = {
      types, "${3rd}/busted/library", "${3rd}/luassert/library",   -- the last two come with it
    },
    ["workspace.checkThirdParty"] = false, ["type.weakUnionCheck"] = true,
  }) .. "\n" }
end

-- The files of a project.
local function files_of(kind, name)
  local files = {}
  for _, one in ipairs(templates[kind]) do
    local function fill(text) return (text:gsub("NAME", name)) end
    files[#files + 1] = { path = fill(one.path), text = fill(one.text), runs = one.runs }
  end
  files[#files + 1] = { path = ".gitignore", text = "luacov.*.out\n*.mlt\n" }
  language_server(files)
  return files
end

-- Writes the files, all or none. Returns true; or nil and a message.
local function write(folder, files)
  local is_made, message = ml.fs.mkdir(folder)
  local ok = is_made
  for _, one in ipairs(files) do
    local path = folder .. "/" .. one.path
    if ok then ok, message = ml.fs.mkdir(folder_of(path), { parents = true }) end
    if ok then ok, message = ml.fs.write(path, one.text) end
    if ok and one.runs then ok, message = ml.fs.chmod(path, 493) end  -- rwxr-xr-x
  end
  if is_made and not ok then
    local is_gone, problem = ml.fs.remove(folder, { recursive = true })
    message = ("%s; %s"):format(message, is_gone and ("'%s' is removed again"):format(folder)
      or "what was written stays, as " .. problem:gsub("^ml%.fs%.%w+: ", ""))
  end
  return ok, message
end

-- What is wrong with the command line.
local function objection(kind, name, more)
  if not kind or not name or more then
    return ("name a kind and a project: moonloop new %s NAME"):format(table.concat(KINDS, "|"))
  end
  if not templates[kind] then
    return ("no kind '%s'%s"):format(kind, spelling.hint(kind, KINDS, "there are"))
  end
  if not name:find "^%a[%w_]*$" then
    return ("'%s' is not a name for a project: use letters, digits and '_'"):format(name)
  end
  if type(_G[name]) == "table" and package.loaded[name] then
    return ("'%s' is the name of a library of Lua; use another"):format(name)
  end
  if TAKEN[name] then return ("'%s' is the name of another file; use another"):format(name) end
end

--- Runs the command. The arguments are the number of options, which is 0, then the kind and name.
function projects.command(_, kind, name, more)
  local problem = objection(kind, name, more)
  if problem then return complain(problem, USAGE) end
  if ml.fs.stat(name) then return complain(("'%s' exists already"):format(name), FAILURE) end
  local files = files_of(kind, name)
  local ok, message = write(name, files)
  if not ok then return complain("cannot write " .. message:gsub("^ml%.fs%.%w+: ", ""), FAILURE) end
  print(("Wrote %s:"):format(name))
  for _, one in ipairs(files) do
    if not one.path:find "^%.types/" then print("  " .. one.path) end
  end
  print(("Try it:\n  cd %s"):format(name))
  for _, line in ipairs(templates[kind].try) do print("  " .. line) end
  return SUCCESS
end

return projects
