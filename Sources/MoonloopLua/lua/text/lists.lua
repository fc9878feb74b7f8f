-- Small steps with tables that several modules take.
local lists = {}

--- A set of the words in a text.
function lists.set(words)
  local set = {}
  for word in words:gmatch "%S+" do set[word] = true end
  return set
end

--- Whether a list has a value.
function lists.contains(list, value)
  for _, one in ipairs(list) do
    if one == value then return true end
  end
  return false
end

--- A new table with the same fields; no metamethod is called.
function lists.copy(fields)
  local copy = {}
  for key, value in next, fields do copy[key] = value end
  return copy
end

--- An order for `table.sort`: by fields, one after the other; behind "-" the larger comes first.
function lists.by(...)
  local fields = { ... }
  return function(a, b)
    for _, field in ipairs(fields) do
      local name = field:match "%w+"
      if a[name] ~= b[name] then return (a[name] < b[name]) == (name == field) end
    end
    return false
  end
end

return lists
