-- The files of tests: beside the spec file, and in the folders of tests.
local bed = require "moonloop.testing.bed"

local files = {}

function files.folder_of(path) return path:match("^(.*/)") or "" end

function files.read(path)
  local file, message = io.open(path, "rb")
  if not file then return nil, message end
  local text = file:read "a"
  file:close()
  return text
end

--- Writes a whole file, and makes the folders that it is in.
function files.write(path, text)
  local ok, message = bed.make_folders((path:match("^(.*)/")))
  if not ok then return nil, message end
  return bed.write_file(path, text)
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
