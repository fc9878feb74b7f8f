-- Which modules of a program were read from Lua files, and whose bodies are running (D36). Separate
-- from reloading, because programs with modules need this at start and few need the rest.
local generation = require "moonloop.generation"

-- `files` are those of the modules that the program's generation has loaded, by module name;
-- `on_module` is called for each.
local bodies = { files = {} }

local body <const> = setmetatable({}, { __close = generation.leave })

-- What `search` finds at other places than the running script: a script of a module's name would
-- otherwise load itself.
local function elsewhere(search, name, script)
  local path, others = package.path, {}
  local file = name:gsub("%.", "/"):gsub("%%", "%%%%")
  for template in path:gmatch "[^;]+" do
    local place = template:gsub("%?", file)
    if not generation.is_script(place) then others[#others + 1] = template end
  end
  package.path = table.concat(others, ";")
  local ok, loader, found = pcall(search, name)
  package.path = path
  if type(loader) == "string" and ok then
    loader = ("%s\n\tnot '%s', which is the running script"):format(loader, script)
  end
  return ok, loader, found
end

-- Returns a searcher that finds what another one does, and records it.
function bodies.noting(search)
  return function(name)
    -- Not called here, so that its errors do not name this file.
    local ok, loader, file = pcall(search, name)
    if ok and generation.is_script(file) then ok, loader, file = elsewhere(search, name, file) end
    if not ok then error(loader, 0) end
    if type(loader) ~= "function" then return loader, file end
    return function(...)
      bodies.files[name] = file
      if bodies.on_module then bodies.on_module(file) end
      generation.enter()
      local _ <close> = body
      return loader(...)
    end, file
  end
end

return bodies
