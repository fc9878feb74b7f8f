-- Which modules of a program were read from Lua files, and whose bodies are running (D36). Separate
-- from reloading, because programs with modules need this at start and few need the rest.
local generation = require "moonloop.generation"

-- `files` are those of the modules that the program's generation has loaded, by module name;
-- `on_module` is called for each.
local bodies = { files = {} }

local body <const> = setmetatable({}, { __close = generation.leave })

-- Returns a searcher that finds what another one does, and records it.
function bodies.noting(search)
  return function(name)
    -- Not called here, so that its errors do not name this file.
    local ok, loader, file = pcall(search, name)
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
