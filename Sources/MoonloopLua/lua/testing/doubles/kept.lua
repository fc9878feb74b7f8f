-- What a double is to expect, and how it was found out: a golden file in Lua, written by a run with
-- `--update` in which the double stands between the code and the real peer.
local bed = require "moonloop.testing.bed"
local values = require "moonloop.testing.values"

local kept = {}

local HEAD = "-- What a server said, as expectations of a double; "
  .. "'moonloop test --update' records it again.\n"

--- Reads the expectations of a golden file.
-- @return the list; or nil and a message
function kept.read(path)
  local chunk, message = loadfile(path, "t", {})
  if not chunk then
    return nil, ("no expectations: %s; 'moonloop test --update' records them"):format(message)
  end
  local ok, list = pcall(chunk)
  if ok and type(list) == "table" then return list end
  return nil, ("'%s' does not return a list of expectations"):format(path)
end

--- Writes them.
-- @return true; or nil and a message
function kept.write(path, list)
  local ok, message = bed.make_folders((path:match("^(.*)/")))
  if not ok then return nil, message end
  ok, message = bed.write_file(path, ("%sreturn %s\n"):format(HEAD, values.format(list)))
  if not ok then return nil, message end
  io.stderr:write("moonloop: test: wrote ", path, "\n")
  return true
end

return kept
