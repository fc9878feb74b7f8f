-- The tokens of a Lua text and their lines, for the places of fields and for `moonloop check`.

local tokens = {}

-- The tokens of a text: each has a kind ("name", "string", "number", "symbol"), a text, a line and
-- a position; the last has the kind "end". Also returns the comments, in the same form.
function tokens.of(text)
  local list, comments, at, line = {}, {}, 1, 1
  local function add(kind, value, last)
    list[#list + 1] = { kind = kind, text = value, line = line, from = at }
    for _ in text:sub(at, last):gmatch "\n" do line = line + 1 end
    at = last + 1
  end
  local function skip(last)
    for _ in text:sub(at, last):gmatch "\n" do line = line + 1 end
    at = last + 1
  end
  local function long_bracket(from)
    local level = text:match("^%[(=*)%[", from)
    if not level then return nil end
    local _, last = text:find("]" .. level .. "]", from, true)
    return last or #text, #level + 2
  end
  if text:sub(1, 1) == "#" then skip((text:find("\n", 1, true) or #text + 1) - 1) end
  while at <= #text do
    local char = text:sub(at, at)
    if char:find "%s" then
      skip(select(2, text:find("^%s+", at)))
    elseif text:find("^%-%-", at) then
      local last = long_bracket(at + 2) or (text:find("\n", at, true) or #text + 1) - 1
      comments[#comments + 1] = { kind = "comment", text = text:sub(at, last), line = line }
      skip(last)
    elseif char:find "[%a_]" then
      local word = text:match("^[%w_]+", at)
      add("name", word, at + #word - 1)
    elseif char:find "%d" or text:find("^%.%d", at) then
      local number = text:match("^0[xX][%x.]+[pP]?[+-]?%d*", at)
        or text:match("^[%d.]+[eE][+-]?%d+", at) or text:match("^[%d.]+", at)
      add("number", number, at + #number - 1)
    elseif char == '"' or char == "'" then
      local last = at + 1
      while last <= #text and text:sub(last, last) ~= char do
        last = last + (text:sub(last, last) == "\\" and 2 or 1)
      end
      add("string", text:sub(at + 1, last - 1), math.min(last, #text))
    elseif char == "[" and text:find("^%[=*%[", at) then
      local last, width = long_bracket(at)
      add("string", text:sub(at + width, last - width), last)
    else
      add("symbol", char, at)
    end
  end
  list[#list + 1] = { kind = "end", text = "", line = line }
  return list, comments
end

return tokens
