-- In recorded runs and replays, `require` reads Lua files with the recorded functions of `io`: a
-- replay gets the modules of that time.

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

-- Records each function of a library as a whole, since its system calls are the script's own. A
-- replay returns the recorded results, but writes to standard streams are repeated.
local posix = package.preload["moonloop.posix"]
-- These ask only the loop, whose own calls are recorded; and what they make cannot be kept.
local asks_loop = { blank = true, gate = true, open = true, wait = true, obstacle = true,
  blocks = true }
package.preload["moonloop.posix"] = function(...)
  local taped, plays = require "moonloop.taped", require "moonloop.tape".plays()
  local module = posix(...)
  local write = module.write
  for name, value in pairs(module) do
    if type(value) == "function" and not asks_loop[name] then module[name] = taped(value, name) end
  end
  local told = module.write
  -- In recordings too: both need the same objects.
  function module.write(fd, bytes, from)
    local count, message, code = told(fd, bytes, from or 1)
    if plays and count and (fd == 1 or fd == 2) then write(fd, bytes, from or 1) end
    return count, message, code
  end
  return module
end

return true
