-- Which modules of a program were read from files of Lua, and whose bodies run (D36). Apart from
-- what loads them again: every program needs this when it starts, and few the rest.
local generation = require "moonloop.generation"

-- `main` is the file of the program; `files` those of the modules that its generation has loaded,
-- by the names of the modules; `on_module` is told of each file.
local bodies = { files = {} }

local body <const> = setmetatable({}, { __close = generation.leave })

-- Has `require` note them.
function bodies.install(file)
  bodies.main = file
  local search = package.searchers[2]
  package.searchers[2] = function(name)
    -- Not called from here: else its errors would say that they came from here.
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
