-- Lua's patterns, as they are written: Lua itself finds a mistake only where a match comes to it.
local patterns = {}

local MALFORMED = "the pattern '%s' is malformed: %s"

-- The place after a set such as [^a-z]; nil if it has no end.
local function after_set(pattern, at)
  at = at + (pattern:sub(at + 1, at + 1) == "^" and 2 or 1)
  repeat  -- a ']' at the beginning belongs to the set
    if at > #pattern then return nil end
    at = at + (pattern:sub(at, at) == "%" and 2 or 1)
  until pattern:sub(at, at) == "]"
  return at + 1
end

-- The place after what begins with '%'; or nil and what is wrong.
local function after_escape(pattern, at)
  local kind = pattern:sub(at + 1, at + 1)
  if kind == "" then return nil, "it ends with '%'" end
  if kind == "b" then
    if at + 3 > #pattern then return nil, "'%b' needs two characters after it" end
    return at + 4
  end
  if kind == "f" and pattern:sub(at + 2, at + 2) ~= "[" then
    return nil, "'%f' needs a set after it, such as %f[%w]"
  end
  return at + 2
end

--- What is wrong with a pattern, as text; nil if nothing is.
function patterns.mistake(pattern)
  local at, depth, problem = 1, 0, nil
  while at and at <= #pattern do
    local one = pattern:sub(at, at)
    if one == "%" then
      at, problem = after_escape(pattern, at)
    elseif one == "[" then
      at, problem = after_set(pattern, at), "a '[' has no ']'"
    else
      depth = depth + (one == "(" and 1 or one == ")" and -1 or 0)
      if depth < 0 then at, problem = nil, "a ')' has no '('" else at = at + 1 end
    end
  end
  if at and depth > 0 then at, problem = nil, "a '(' has no ')'" end
  return not at and MALFORMED:format(pattern, problem) or nil
end

return patterns
