-- Finds the lines of a table's fields in its text, for messages about mistakes. Reads the
-- constructor after the last top-level `return`; computed fields get the line of the nearest field
-- around them.

local tokens = require "moonloop.configuration.tokens"

local positions = {}

local OPENERS = { ["function"] = true, ["do"] = true, ["if"] = true, ["repeat"] = true }
local CLOSERS = { ["end"] = true, ["until"] = true }
local CONSTANTS = { ["true"] = true, ["false"] = true, ["nil"] = true }
local BRACKETS = { ["("] = true, ["{"] = true, ["["] = true }
local CLOSING = { [")"] = true, ["}"] = true, ["]"] = true }
local ENDS = { [","] = true, [";"] = true, ["}"] = true }

-- The index after the expression that begins at an index: that of a comma, a semicolon, or the
-- closing bracket of the constructor around it.
local function after_expression(list, index)
  local depth = 0
  while list[index].kind ~= "end" do
    local token = list[index]
    local is_symbol, is_name = token.kind == "symbol", token.kind == "name"
    if depth == 0 and is_symbol and ENDS[token.text] then return index end
    if (is_symbol and BRACKETS[token.text]) or (is_name and OPENERS[token.text]) then
      depth = depth + 1
    elseif is_symbol and CLOSING[token.text] or is_name and CLOSERS[token.text] then
      depth = depth - 1
    end
    index = index + 1
  end
  return index
end

-- Reads one field at an index: its key (nil: the next item), the key's place, the value's place.
local function parse_key(list, index)
  local token, second = list[index], list[index + 1]
  if token.kind == "name" and second.text == "=" and list[index + 2].text ~= "=" then
    return token.text, token.line, index + 2
  end
  if token.kind == "symbol" and token.text == "[" then
    local key = second.kind == "string" and second.text
      or second.kind == "number" and tonumber(second.text)
    if key and list[index + 2].text == "]" and list[index + 3].text == "=" then
      return key, token.line, index + 4
    end
    while list[index].kind ~= "end" and list[index].text ~= "=" do index = index + 1 end
    return false, token.line, index + 1
  end
  return nil, token.line, index
end

-- The fields of what is no table.
local NONE <const> = {}

-- Reads the constructor whose brace is at an index into a node, which gets a line and the nodes of
-- its `fields`. Returns the index after it. A field's node says whether it `is_table`, or
-- `is_computed`: begins with a name or a bracket. `again` lists fields that appear twice, with the
-- line of the first: Lua silently uses the last. `repeats` says whether there are such fields in
-- it, at any depth.
local function parse_table(list, index, node)
  local item = 0
  node.fields = {}
  index = index + 1
  while list[index].kind ~= "end" and list[index].text ~= "}" do
    local key, line, value = parse_key(list, index)
    if key == nil then
      item = item + 1
      key = item
    end
    local first_token = list[value]
    local child = { line = line, fields = NONE,
      is_computed = first_token.kind == "symbol" and first_token.text == "("
        or first_token.kind == "name" and not CONSTANTS[first_token.text] }
    if first_token.text == "{" and first_token.kind == "symbol" then
      child.is_table = true
      value = parse_table(list, value, child)
      node.repeats = node.repeats or child.repeats
    end
    index = after_expression(list, value)
    local first = key and node.fields[key]
    if first then
      node.again = node.again or {}
      node.again[#node.again + 1] = { key = key, line = first.line }
      node.repeats = true
    end
    if key then node.fields[key] = child end
    if list[index].text == "," or list[index].text == ";" then index = index + 1 end
  end
  return index + 1
end

-- The place of the constructor of a local table that is mentioned nowhere else but in its return.
local function constructor_of(list, name)
  local found, count = nil, 0
  for index = 1, #list do
    local token = list[index]
    if token.kind == "name" and token.text == name then
      count = count + 1
      local is_made = index > 1 and list[index - 1].text == "local"
        and list[index + 1].text == "=" and list[index + 2].text == "{"
      found = found or is_made and index + 2
    end
  end
  return count == 2 and found or nil
end

-- The node of the table that a text returns; or of the whole text, if the table is computed. If
-- the text does not end with a `return`, the node says so: `is_missing`.
function positions.of(text)
  local list, depth, found = tokens.of(text), 0, nil
  -- Looking ahead ends at the end, also where a text is cut off.
  local last = list[#list]
  setmetatable(list, { __index = function() return last end })
  for index = 1, #list do
    local token = list[index]
    if token.kind == "name" then
      if OPENERS[token.text] then depth = depth + 1 end
      if CLOSERS[token.text] then depth = depth - 1 end
      if depth == 0 and token.text == "return" then found = index end
    end
  end
  if not found then return { line = 1, fields = {}, is_missing = true } end
  local value = list[found + 1]
  local brace = value.text == "{" and value.kind == "symbol" and found + 1
    or value.kind == "name" and list[found + 2].kind == "end" and constructor_of(list, value.text)
  if not brace then return { line = list[found].line, fields = {} } end
  local node = { line = list[brace].line }
  parse_table(list, brace, node)
  return node
end

-- The line of a field, given its path; if it is unknown, that of the nearest field around it.
function positions.line(node, path)
  local line = node.line
  for _, key in ipairs(path) do
    node = node.fields[key]
    if not node then break end
    line = node.line
  end
  return line
end

return positions
