-- The tokens of a Lua text and their lines, for the places of fields and for `moonloop check`.

local tokens = {}

local byte, find, match, sub = string.byte, string.find, string.match, string.sub

-- What begins with a byte: "space", "name", "number", "string" or, for others, "symbol".
local BEGINS = {}
for code = 0, 255 do
  local char = string.char(code)
  BEGINS[code] = char:find "%s" and "space" or char:find "[%a_]" and "name"
    or char:find "%d" and "number" or char:find "[\"']" and "string" or "symbol"
end

local NEWLINE, DASH, DOT, BRACKET = byte("\n-.[", 1, -1)

-- How many lines begin in a part of a text.
local function lines_in(text, from, to)
  local count, at = 0, find(text, "\n", from, true)
  while at and at <= to do
    count, at = count + 1, find(text, "\n", at + 1, true)
  end
  return count
end

--- The last byte of the string or comment in long brackets that begins here, and how wide each of
-- them is; nil if none begins here.
function tokens.long_bracket(text, from)
  local level = match(text, "^%[(=*)%[", from)
  if not level then return nil end
  local _, last = find(text, "]" .. level .. "]", from, true)
  return last or #text, #level + 2
end

--- The last byte of the quoted string that begins here.
function tokens.quoted(text, from)
  local quote, last = sub(text, from, from), from + 1
  local stops = quote == "'" and "[\\']" or "[\\\"]"
  while true do
    last = find(text, stops, last)
    if not last then return #text + 1 end
    if sub(text, last, last) == quote then return last end
    last = last + 2
  end
end

--- The number that begins here, as text.
function tokens.number(text, from)
  return match(text, "^0[xX][%x.]+[pP]?[+-]?%d*", from)
    or match(text, "^[%d.]+[eE][+-]?%d+", from) or match(text, "^[%d.]+", from)
end

local long_bracket, quoted, number = tokens.long_bracket, tokens.quoted, tokens.number

--- The tokens of a text: each has a kind ("name", "string", "number", "symbol"), a text, a line and
-- a position; the last has the kind "end". Also returns the comments, in the same form.
function tokens.of(text)
  local list, comments, count, size, at, line = {}, {}, 0, #text, 1, 1
  if sub(text, 1, 1) == "#" then at = find(text, "\n", 1, true) or size + 1 end
  while at <= size do
    local code = byte(text, at)
    local kind, next_byte = BEGINS[code], nil
    if code == DASH or code == DOT or code == BRACKET then next_byte = byte(text, at + 1) end
    local value, last
    if kind == "space" then
      if code == NEWLINE then line = line + 1 end
      at = at + 1
    elseif code == DASH and next_byte == DASH then
      last = long_bracket(text, at + 2) or (find(text, "\n", at, true) or size + 1) - 1
      comments[#comments + 1] = { kind = "comment", text = sub(text, at, last), line = line }
      line = line + lines_in(text, at, last)
      at = last + 1
    else
      local first_line = line
      if kind == "name" then
        value = match(text, "^[%w_]+", at)
        last = at + #value - 1
      elseif kind == "number" or code == DOT and BEGINS[next_byte] == "number" then
        kind, value = "number", number(text, at)
        last = at + #value - 1
      elseif kind == "string" then
        last = quoted(text, at)
        value, last = sub(text, at + 1, last - 1), math.min(last, size)
        line = line + lines_in(text, at, last)
      else
        local width
        if code == BRACKET then last, width = long_bracket(text, at) end
        if last then
          kind, value = "string", sub(text, at + width, last - width)
          line = line + lines_in(text, at, last)
        else
          value, last = sub(text, at, at), at
        end
      end
      count = count + 1
      list[count] = { kind = kind, text = value, line = first_line, from = at }
      at = last + 1
    end
  end
  list[count + 1] = { kind = "end", text = "", line = line }
  return list, comments
end

return tokens
