-- Where a script led to a call, for reports and warnings.
local getinfo = debug and debug.getinfo  -- a script with less than all grants has none

-- How far up it is looked for.
local FAR = 60

--- The innermost line that is not ours, as "app.lua:3"; nil if there is none.
-- @param is_library whether a source, such as "@/usr/share/lua/5.4/socket.lua", is passed over too
return function(is_library)
  for level = 3, getinfo and FAR or 0 do
    local where = getinfo(level, "Sl")
    if not where then return nil end
    local source = where.source
    local is_ours = source:find "^@moonloop/" or source:find "^=moonloop"
    if where.currentline > 0 and not is_ours and not (is_library and is_library(source)) then
      return ("%s:%d"):format(where.short_src, where.currentline)
    end
  end
end
