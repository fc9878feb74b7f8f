-- The standard libraries, kept for the runner: a spec may replace `string.format`, or the index of
-- all strings, and the runner needs them to report what comes of that.
local libraries = {}

local next, rawequal, rawget, rawset = next, rawequal, rawget, rawset
local getmetatable, setmetatable = debug.getmetatable, debug.setmetatable

local strings = getmetatable ""
-- What each table had at first.
local known = {}
for _, library in ipairs { string, table, math, os, io, coroutine, utf8, debug, strings } do
  local kept = {}
  for name, value in next, library do kept[name] = value end
  known[#known + 1] = { library, kept }
end

-- What specs have changed: { table, name, value } each.
local changed = {}

--- Puts back what a spec has changed, while the runner works.
function libraries.take()
  changed = {}
  if getmetatable "" ~= strings then setmetatable("", strings) end
  for place = 1, #known do
    local library, kept = known[place][1], known[place][2]
    for name, value in next, kept do
      local now = rawget(library, name)
      if not rawequal(now, value) then
        changed[#changed + 1] = { library, name, now }
        rawset(library, name, value)
      end
    end
  end
end

--- Gives specs their changes again.
function libraries.give()
  for _, change in next, changed do rawset(change[1], change[2], change[3]) end
end

return libraries
