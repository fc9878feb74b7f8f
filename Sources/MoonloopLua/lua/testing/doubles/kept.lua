-- What a double is to expect, and how it was found out: a golden file in Lua, written by a run with
-- `--update` in which the double stands between the code and the real peer.
local bed = require "moonloop.testing.bed"
local check = require "moonloop.text.options"
local failure = require "moonloop.testing.failure"
local host = require "moonloop.text.host"
local values = require "moonloop.testing.values"

local kept = {}

local HEAD = "-- What a server said, as expectations of a double; "
  .. "'moonloop test --update' records it again.\n"

local WORDS = { recorded = "string", from = "string" }

--- Checks what a double is made of; mistakes are errors at the line of the test.
-- @param name the double, for messages
-- @param example of a list
function kept.check(name, given, example, level)
  local what = type(given) ~= "table" and ", got " .. host.given(given)
    or given.recorded == nil and #given == 0 and next(given) ~= nil
      and (", such as %s; or 'recorded'"):format(example)
  if what then error(("%s: takes a list%s"):format(name, what), level + 1) end
  local named = {}
  for key, value in pairs(given) do
    if type(key) == "string" then named[key] = value end
  end
  check(name, named, WORDS)
end

-- Reads the expectations of a golden file.
-- @return the list; or nil and a message
local function read(path)
  local chunk, message = loadfile(path, "t", {})
  if not chunk then
    return nil, ("no expectations: %s; 'moonloop test --update' records them"):format(message)
  end
  local ok, list = pcall(chunk)
  if ok and type(list) == "table" then return list end
  return nil, ("'%s' does not return a list of expectations"):format(path)
end

--- What a double is to expect: as given, or from the golden file that is named.
-- @return the list; nil and the path of the golden file, if this run is to write it
function kept.list(tool, given, context)
  local path = given.recorded and context.golden(given.recorded)
  if not path then return given end
  if context.update then return nil, path end
  local list, message = read(path)
  return list or failure.fail(("%s: %s: %s"):format(context.where, tool, message), 0)
end

--- Ends a double with its test.
function kept.end_with(context, server, streams, finish)
  context.defer(function()
    server:invalidate()
    for stream in pairs(streams) do stream:close() end
    finish()
  end)
end

--- Writes a golden file.
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
