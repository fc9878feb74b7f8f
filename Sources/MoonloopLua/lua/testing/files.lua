-- The files of tests: beside the spec file, and in the folders of tests.
local bed = require "moonloop.testing.bed"
local check = require "moonloop.text.options"
local ml = require "moonloop"

local files = {}

function files.folder_of(path) return path:match("^(.*/)") or "" end

function files.read(path)
  local file, message = io.open(path, "rb")
  if not file then return nil, message end
  local text = file:read "a"
  file:close()
  return text
end

local OPTIONS = { append = "boolean", mode = "string" }

--- The options of a file to write; mistakes are errors at the line of the test.
function files.check_options(options)
  local asked = check("t:file", options, OPTIONS)
  if asked.mode and not asked.mode:find "^[0-7][0-7][0-7][0-7]?$" then
    error(('t:file: the mode must be digits from 0 to 7, such as "755", got "%s"'):format(
      asked.mode), 3)
  end
  return asked
end

--- Writes a file, and makes the folders that it is in.
-- @param options nil, or `append` and `mode`; otherwise the file is a new one
function files.write(path, text, options)
  local ok, message = bed.make_folders((path:match("^(.*)/")))
  if not ok then return nil, message end
  options = options or {}
  if options.append then
    ok, message = ml.fs.append(path, text)
  else
    ok, message = bed.write_file(path, text)
  end
  if ok and options.mode then ok, message = ml.fs.chmod(path, tonumber(options.mode, 8)) end
  return ok, message
end

--- What a test writes stays in its folder.
function files.check_inside(what, name)
  if name:find "^/" or ("/" .. name .. "/"):find("/../", 1, true) then
    error(("t:%s: the name must lie in the folder, got %q"):format(what, name), 3)
  end
end

local NAME_MOST = 240  -- bytes of the name of a snapshot; the system takes 255 with what follows

--- A name of a file, from that of a test.
function files.name_of(name)
  local plain = name:gsub("[^%w_\128-\255-]+", "-")
  if #plain <= NAME_MOST then return plain end
  local sum = 0
  for place = 1, #name do sum = (sum * 31 + name:byte(place)) & 0xffffffff end
  return ("%s-%08x"):format(plain:sub(1, NAME_MOST - 9), sum)
end

return files
