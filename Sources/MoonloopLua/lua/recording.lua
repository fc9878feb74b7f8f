-- In a recorded run, and in its replay, files of Lua come through the functions of `io` that are
-- recorded: a replay has the modules that were there then.

local function text_of(path)
  local file, why = io.open(path, "rb")
  if not file then return nil, why end
  local text = file:read "a" or ""
  file:close()
  text = text:gsub("^\xEF\xBB\xBF", "")
  if text:sub(1, 1) == "#" then text = text:gsub("^[^\n]*", "", 1) end
  return text
end

package.searchers[2] = function(name)
  local path, why = package.searchpath(name, package.path)
  if not path then return why end
  local chunk, message = load(text_of(path), "@" .. path)
  if chunk then return chunk, path end
  error(("error loading module '%s' from file '%s':\n\t%s"):format(name, path, message), 0)
end

local original = { loadfile = loadfile, dofile = dofile }

function loadfile(path, mode, ...)
  if path == nil then return original.loadfile(path, mode, ...) end
  local text, why = text_of(path)
  if not text then return nil, "cannot open " .. why end
  return load(text, "@" .. path, mode, ...)
end

function dofile(path)
  if path == nil then return original.dofile() end
  local chunk, why = loadfile(path)
  if not chunk then error(why, 0) end
  return chunk()
end

-- Its system calls are the script's own: each function is recorded as a whole, and a replay has
-- what it answered. What is written to the standard streams is written again.
local posix = package.preload["moonloop.posix"]
package.preload["moonloop.posix"] = function(...)
  local taped, plays = require "moonloop.taped", require "moonloop.tape".plays()
  local module = posix(...)
  local write = module.write
  for name, value in pairs(module) do
    if type(value) == "function" then module[name] = taped(value, name) end
  end
  local told = module.write
  -- In a recording as well: the two are to have the same objects.
  function module.write(fd, bytes, from)
    local count, message, code = told(fd, bytes, from or 1)
    if plays and count and (fd == 1 or fd == 2) then write(fd, bytes, from or 1) end
    return count, message, code
  end
  return module
end

return true
