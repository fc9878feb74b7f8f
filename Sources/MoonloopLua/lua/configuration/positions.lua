-- Finds the lines of a table's fields in its text, for messages about mistakes. Reads the
-- constructor after the last top-level `return`; computed fields get the line of the nearest field
-- around them.

local tokens = require "moonloop.configuration.tokens"

local positions = {}

local byte, find, match = string.byte, string.find, string.match
local long_bracket, quoted = tokens.long_bracket, tokens.quoted

local DEPTHS = { ["function"] = 1, ["do"] = 1, ["if"] = 1, ["repeat"] = 1, ["end"] = -1,
  ["until"] = -1 }
local CONSTANTS = { ["true"] = true, ["false"] = true, ["nil"] = true }
local DASH, BRACKET, OPEN, CLOSE, BRACE, END_BRACE, END_BRACKET, COMMA, SEMICOLON, EQUALS, QUOTE,
  SINGLE = byte("-[(){}],;=\"'", 1, -1)
-- What a word, string, comment or long bracket begins with; and what ends an expression.
local WORDS, EXPRESSION = "[%a_\"'%-%[]", "[%a_\"'%-%[(){}%],;]"

-- The fields of what is no table.
local NONE <const> = {}

local Reader = {}
Reader.__index = Reader

-- The line of a place; they are asked for in order.
function Reader:line_of(at)
  local starts, line = self.starts, self.line
  while starts[line] and starts[line] <= at do line = line + 1 end
  self.line = line
  return line
end

-- The next place that is neither space nor comment.
function Reader:skip(at)
  local text = self.text
  while true do
    at = find(text, "%S", at)
    if not at then return self.size + 1 end
    if byte(text, at) ~= DASH or byte(text, at + 1) ~= DASH then return at end
    at = (long_bracket(text, at + 2) or find(text, "\n", at, true) or self.size) + 1
  end
end

-- The place after the string, comment or single byte at a place.
function Reader:after_sign(at, code)
  local text = self.text
  if code == QUOTE or code == SINGLE then return quoted(text, at) + 1 end
  if code == BRACKET then return (long_bracket(text, at) or at) + 1 end
  if code == DASH and byte(text, at + 1) == DASH then return self:skip(at) end
  return at + 1
end

-- The place of the comma, semicolon or closing brace that ends the expression at a place.
function Reader:after_expression(at)
  local text, depth = self.text, 0
  local simple = match(text, "^%-?[%w_.]*%s*()[,;}]", at)
  if simple then return simple end
  while true do
    at = find(text, EXPRESSION, at)
    if not at then return self.size + 1 end
    local code = byte(text, at)
    local word, after = match(text, "^([%a_][%w_]*)()", at)
    if word then
      depth, at = depth + (DEPTHS[word] or 0), after
    elseif depth == 0 and (code == COMMA or code == SEMICOLON or code == END_BRACE) then
      return at
    else
      local next_at = self:after_sign(at, code)
      if code == OPEN or code == BRACE or code == BRACKET and next_at == at + 1 then
        depth = depth + 1
      elseif code == CLOSE or code == END_BRACE or code == END_BRACKET then
        depth = depth - 1
      end
      at = next_at
    end
  end
end

-- The value of the key in brackets at a place, if it is a constant; and the place after it.
function Reader:constant(at)
  local text, code = self.text, byte(self.text, at)
  local last, width = long_bracket(text, at)
  if not last and (code == QUOTE or code == SINGLE) then last, width = quoted(text, at), 1 end
  if last then return text:sub(at + width, last - width), last + 1 end
  local number = tokens.number(text, at)
  if number then return tonumber(number), at + #number end
end

-- Reads the key of the field at a place: nil: the next item; false: a computed one. Returns the
-- place of the value as well.
function Reader:key(at)
  local text = self.text
  local name, after = match(text, "^([%a_][%w_]*)()", at)
  if name then
    after = self:skip(after)
    if byte(text, after) == EQUALS and byte(text, after + 1) ~= EQUALS then
      return name, self:skip(after + 1)
    end
  elseif byte(text, at) == BRACKET and not long_bracket(text, at) then
    local key, ended = self:constant(self:skip(at + 1))
    ended = key and self:skip(ended)
    if not ended or byte(text, ended) ~= END_BRACKET then
      key, ended = false, (match(text, "^%b[]()", at) or self.size + 1) - 1
    end
    local equals = self:skip(ended + 1)
    return key, self:skip(equals + 1)
  end
  return nil, at
end

-- Adds the node of a field to those around it.
local function add(node, key, child)
  local first = node.fields[key]
  if first then
    node.again = node.again or {}
    node.again[#node.again + 1] = { key = key, line = first.line }
    node.repeats = true
  end
  node.fields[key] = child
end

-- Reads the constructor whose brace is at a place into a node, which gets a line and the nodes of
-- its `fields`. Returns the place after it. A field's node says whether it `is_table`, or
-- `is_computed`: begins with a name or a bracket. `again` lists fields that appear twice, with the
-- line of the first: Lua silently uses the last. `repeats` says whether there are such fields in
-- it, at any depth.
function Reader:table(at, node)
  local text, size, item = self.text, self.size, 0
  node.fields = {}
  at = self:skip(at + 1)
  while at <= size and byte(text, at) ~= END_BRACE do
    local line = self:line_of(at)
    local key, after = match(text, "^([%a_][%w_]*) *= *[%d.]+()[,;}]", at)  -- the usual ones
    if key then
      add(node, key, { line = line, fields = NONE, is_computed = false })
      at = after
    else
      at, item = self:field(at, line, node, item)
    end
    at = self:skip(byte(text, at) == END_BRACE and at or at + 1)
  end
  return at + 1
end

-- Reads any field: the place after it, and how many items there were.
function Reader:field(at, line, node, item)
  local text = self.text
  local key, value = self:key(at)
  if key == nil then
    item = item + 1
    key = item
  end
  local code, word = byte(text, value), match(text, "^[%a_][%w_]*", value)
  local child = { line = line, fields = NONE,
    is_computed = word and not CONSTANTS[word] or code == OPEN }
  if code == BRACE then
    child.is_table = true
    value = self:table(value, child)
    node.repeats = node.repeats or child.repeats
  end
  if key then add(node, key, child) end
  return self:after_expression(value), item
end

-- Calls `visit(word, from, after)` for each word outside of strings and comments; it may return
-- another place to go on at.
function Reader:each_word(visit)
  local text, at = self.text, match(self.text, "^#[^\n]*()") or 1
  while true do
    at = find(text, WORDS, at)
    if not at then return end
    local word, after = match(text, "^([%a_][%w_]*)()", at)
    if word then
      at = visit(word, at, after) or after
    else
      at = self:after_sign(at, byte(text, at))
    end
  end
end

-- The place of the constructor of a local table that is mentioned nowhere else but in its return.
function Reader:constructor_of(name)
  local found, count, before = nil, 0, nil
  self:each_word(function(word, _, after)
    if word == name then
      count = count + 1
      local equals = self:skip(after)
      local brace = self:skip(equals + 1)
      local is_made = before == "local" and byte(self.text, equals) == EQUALS
        and byte(self.text, brace) == BRACE
      found = found or is_made and brace
    end
    before = word
  end)
  return count == 2 and found or nil
end

-- Reads the constructor at a place from its beginning.
function Reader:whole(brace)
  self.line = 1
  local node = { line = self:line_of(brace) }
  return node, self:table(brace, node)
end

-- The node of the table that a text returns; or of the whole text, if the table is computed. If
-- the text does not end with a `return`, the node says so: `is_missing`.
function positions.of(text)
  local reader = setmetatable({ text = text, size = #text, starts = {}, line = 1 }, Reader)
  for start in text:gmatch "\n()" do reader.starts[#reader.starts + 1] = start end
  local depth, found, node, name = 0, nil, nil, nil
  reader:each_word(function(word, from, after)
    depth = depth + (DEPTHS[word] or 0)
    if depth ~= 0 or word ~= "return" then return nil end
    local value = reader:skip(after)
    found, node = from, nil
    name = match(text, "^[%a_][%w_]*", value)
    if name and reader:skip(value + #name) <= #text then name = nil end
    if byte(text, value) ~= BRACE then return nil end
    node, after = reader:whole(value)
    return after
  end)
  if not found then return { line = 1, fields = {}, is_missing = true } end
  local brace = not node and name and reader:constructor_of(name)
  if brace then node = reader:whole(brace) end
  reader.line = 1
  return node or { line = reader:line_of(found), fields = {}, is_computed = true }
end

-- The line of a field, given its path; if it is unknown, that of the nearest field around it; then
-- also whether that one's value is computed, so that the field is written elsewhere.
function positions.line(node, path)
  local around = node
  for _, key in ipairs(path) do
    around, node = node, node.fields[key]
    if not node then return around.line, around.is_computed or false end
  end
  return node.line, false
end

return positions
