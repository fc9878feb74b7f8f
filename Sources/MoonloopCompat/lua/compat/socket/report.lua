-- Reports a call of LuaSocket that blocks the loop, once for each name, at the line of the script.
local posix = require "moonloop.posix"
local site = require "moonloop.text.site"
local waiting = require "moonloop.compat.socket.waiting"

local told = {}

--- @param hint what to do, if something can be done
return function(name, hint)
  if told[name] then return end
  local place = site(waiting.is_library)
  place = place and (" (%s)"):format(place) or ""
  if posix.blocks(name, place .. (hint or "")) then told[name] = true end
end
