-- All that a script of a state can reach by its fields and metatables, one line each, in order.
local raw_type, pairs_of = type, next
local seen, lines = {}, {}

local function visit(value, path)
  local kind = raw_type(value)
  if kind ~= "table" then
    lines[#lines + 1] = path .. ": " .. kind
    return
  end
  if seen[value] then return end
  seen[value] = path
  local keys, named = {}, {}
  for key in pairs_of, value do
    local name = tostring(key)
    keys[#keys + 1], named[name] = name, key
  end
  table.sort(keys)
  for _, name in ipairs(keys) do visit(rawget(value, named[name]), path .. "." .. name) end
  local meta = getmetatable(value)
  if raw_type(meta) == "table" then visit(meta, path .. "<meta>") end
end

local ml = require "moonloop"
-- Fields that are there once they were asked for.
for _, name in ipairs { "inspect", "json", "log" } do assert(ml[name]) end
visit(ml, "moonloop")
visit(string, "string")
visit(_G, "_G")
table.sort(lines)
return table.concat(lines, "\n") .. "\n"
