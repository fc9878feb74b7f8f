-- Files beside a spec file: replaces `require "busted.fixtures"` where busted is not installed.
local bed = require "moonloop.testing.bed"

local fixtures = {}

local function check(name, value, may_be_nil)
  if type(value) == "string" or (may_be_nil and value == nil) then return end
  error(("bad argument to '%s' expected a string (relative filename)%s, got: %s"):format(
    name, may_be_nil and " or nil" or "", type(value)), 3)
end

--- The folder of the first file on the stack that is not this one.
local function caller_folder()
  local own = debug.getinfo(1, "S").source
  local level = 2
  while true do
    local info = debug.getinfo(level, "S")
    if not info then return "" end
    if info.source ~= own and info.source:sub(1, 1) == "@" then
      return info.source:sub(2):match("^(.*/)") or ""
    end
    level = level + 1
  end
end

--- A path without `.` and `..`.
local function normal(path)
  local parts = {}
  for part in path:gmatch("[^/]+") do
    if part == ".." and #parts > 0 then
      table.remove(parts)
    elseif part ~= "." and part ~= ".." then
      parts[#parts + 1] = part
    end
  end
  return "/" .. table.concat(parts, "/")
end

local function absolute(path)
  if path:sub(1, 1) ~= "/" then path = assert(bed.working_folder()) .. "/" .. path end
  return normal(path)
end

--- The full path of a file beside the spec file, or of the spec's folder.
function fixtures.path(name)
  check("path", name, true)
  return absolute(caller_folder() .. (name or ""))
end

--- The text of a file beside the spec file.
function fixtures.read(name, is_binary)
  check("read", name)
  local path = absolute(caller_folder() .. name)
  local file, message = io.open(path, is_binary and "rb" or "r")
  local text = file and file:read "a"
  if file then file:close() end
  if text then return text end
  error(("Error reading file '%s': %s"):format(path, message or "it is a folder"), 2)
end

--- The result of a Lua file beside the spec file.
function fixtures.load(name)
  check("load", name)
  if not name:find("%.lua$") then name = name .. ".lua" end
  local text = fixtures.read(name)
  local chunk, message = load(text, "@" .. absolute(caller_folder() .. name))
  if not chunk then error(("Error loading code from '%s': %s"):format(name, message), 2) end
  return chunk()
end

return fixtures
