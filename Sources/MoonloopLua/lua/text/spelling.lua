-- "Did you mean": hints for unknown words. The host computes the distance of words, so that options
-- of commands, options in scripts and fields of files are treated alike.
local host = require "moonloop.text.host"
local mistake, nearest = host.mistake, host.nearest

local spelling = {}

--- The word of a list that was probably meant; nil if none is near.
-- @param limit how many letters may be inserted, removed, changed or swapped; by default it grows
-- with the length of the word
spelling.nearest = nearest

-- What was found in a list of words, by word: a mistake is often repeated.
local found_before = setmetatable({}, { __mode = "k" })

--- "; did you mean 'every'?", or all words if none is near.
-- @param what introduces the list of all words
function spelling.hint(word, words, what)
  local found = found_before[words] or {}
  found_before[words] = found
  if found[word] == nil then found[word] = nearest(word, words) or false end
  if found[word] then return ("; did you mean '%s'?"):format(found[word]) end
  return ("; %s %s"):format(what or "use one of", table.concat(words, ", "))
end

--- Raises an error for a field that an object does not have; to be called by `__index`.
-- @param fields a list of names; `methods` has more as keys, beside what begins with "__"
function spelling.no_field(what, key, fields, methods)
  local names = { table.unpack(fields) }
  for name in pairs(methods) do
    if not name:find "^__" then names[#names + 1] = name end
  end
  table.sort(names)
  mistake(("%s: unknown field '%s'"):format(what, tostring(key)),
    spelling.hint(tostring(key), names, "there are"))
end

return spelling
