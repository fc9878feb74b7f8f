-- Parts of showing a value: the order of its keys; keys and other values as text.
local quoting = require "moonloop.text.quoting"

local values = {}

local RANKS = { number = 1, string = 2, boolean = 3 }

local RESERVED = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat
  return then true until while]]):gmatch "%a+" do
  RESERVED[word] = true
end

--- The order of keys: numbers by size, then strings, then the rest by their text.
function values.before(a, b)
  local first, second = RANKS[type(a)] or 4, RANKS[type(b)] or 4
  if first ~= second then return first < second end
  if first <= 2 then return a < b end
  return values.tostring(a) < values.tostring(b)
end

--- The keys of tables, in order.
function values.keys(...)
  local keys = {}
  for _, one in ipairs { ... } do
    for key in pairs(one) do keys[#keys + 1] = key end
  end
  table.sort(keys, values.before)
  return keys
end

--- `tostring`, also for a value whose metamethod fails or does not return a string.
function values.tostring(value)
  local ok, text = pcall(tostring, value)
  if ok then return text end
  return ("(%s whose __tostring fails: %s)"):format(type(value),
    type(text) == "string" and text or "a " .. type(text))
end

--- A key as in a table constructor.
function values.key(key)
  if type(key) ~= "string" then return "[" .. values.tostring(key) .. "]" end
  if key:find "^[%a_][%w_]*$" and not RESERVED[key] then return key end
  return "[" .. quoting.quoted(key) .. "]"
end

return values
