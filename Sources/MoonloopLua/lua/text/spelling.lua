-- "Did you mean": hints for words that are not known. The distance of words is the host's, so that
-- options of commands, options in scripts and fields of files are judged alike.
local nearest = require "moonloop.text.nearest"

local spelling = {}

--- The word of a list that is near enough to be meant; nil if none is.
-- @param limit how many letters may be put in, left out, changed or swapped; the default grows with
--   the length of the word
spelling.nearest = nearest

-- What was found for a list of words, by word: one mistake is often made many times.
local found_before = setmetatable({}, { __mode = "k" })

--- "; did you mean 'every'?", or all words if none is near.
-- @param what begins the list of all words
function spelling.hint(word, words, what)
  local found = found_before[words] or {}
  found_before[words] = found
  if found[word] == nil then found[word] = nearest(word, words) or false end
  if found[word] then return ("; did you mean '%s'?"):format(found[word]) end
  return ("; %s %s"):format(what or "use one of", table.concat(words, ", "))
end

return spelling
