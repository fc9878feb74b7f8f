-- Reports a call of LuaSocket that blocks the loop, once for each name, at the line of the script.
local posix = require "moonloop.posix"

local told = {}
-- The files of LuaSocket, LuaSec and ours.
local LIBRARY = { "/socket%.lua$", "/socket/[^/]+%.lua$", "/ltn12%.lua$", "/mime%.lua$",
  "/ssl%.lua$", "/ssl/[^/]+%.lua$", "^@moonloop/", "^=moonloop" }

local function is_library(source)
  for _, pattern in ipairs(LIBRARY) do
    if source:find(pattern) then return true end
  end
  return false
end

-- The innermost line that is not LuaSocket's own.
local function site()
  for level = 3, 60 do
    local where = debug.getinfo(level, "Sl")
    if not where then return "" end
    if where.currentline > 0 and not is_library(where.source) then
      return (" (%s:%d)"):format(where.short_src, where.currentline)
    end
  end
  return ""
end

--- @param hint what to do, if something can be done
return function(name, hint)
  if told[name] then return end
  if posix.blocks(name, site() .. (hint or "")) then told[name] = true end
end
