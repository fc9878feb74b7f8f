-- Which modules of a program were read from Lua files, and whose bodies are running (D36). Separate
-- from reloading, because every program needs this at start and few need the rest.
local generation = require "moonloop.generation"

-- `main` is the program's file; `files` those of the modules its generation has loaded, by module
-- name; `on_module` is called for each file.
local bodies = { files = {} }

local body <const> = setmetatable({}, { __close = generation.leave })

-- Makes `require` record them.
function bodies.install(file)
  bodies.main = file
  local search = package.searchers[2]
  package.searchers[2] = function(name)
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
