-- Completes the end of a line: globals, fields and methods, including those of handles.
local help = require "moonloop.console.help"

local complete = {}

local keywords = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat
  return then true until while]]):gmatch "%a+" do
  keywords[#keywords + 1] = word
end

local function index(value, key)
  local ok, found = pcall(function() return value[key] end)
  if ok then return found end
end

-- Adds the names in a table and those it inherits.
local function add_fields(found, value, only_functions)
  local depth = 0
  while type(value) == "table" and depth < 8 do
    for key, field in next, value do
      if type(key) == "string" and key:find "^[%a_][%w_]*$"
        and not (only_functions and type(field) ~= "function") then
        found[key] = type(field) == "function" and "function" or "field"
      end
    end
    local meta = debug.getmetatable(value)
    value = type(meta) == "table" and rawget(meta, "__index")
    depth = depth + 1
  end
end

-- The names that may follow a value after `.` or `:`.
local function members_of(value, sign)
  local found = {}
  if type(value) == "string" then value = string end
  add_fields(found, value, sign == ":")
  for _, entry in ipairs(help.members(value)) do
    if entry.form == "field" then
      if sign == "." then found[entry.name] = "field" end
    elseif sign == ":" or type(value) == "table" then
      found[entry.name] = "function"
    end
  end
  return found
end

-- The value of a path such as `ml.net`, and the word and sign after it.
local function resolve(text, environment)
  local path = text:match "[%a_][%w_.:]*$"
  if not path then return nil, text:match "[%w_]*$" == "" and "" or nil end
  local value, sign, word = environment, nil, path
  while true do
    local name, next_sign, rest = word:match "^([%w_]+)([.:])(.*)$"
    if not name then return value, word, sign end
    value, sign, word = index(value, name), next_sign, rest
    if value == nil then return nil end
  end
end

local function globals(environment)
  local found = {}
  for _, word in ipairs(keywords) do found[word] = "word" end
  local meta = debug.getmetatable(environment)
  add_fields(found, meta and meta.names and meta.names() or {})
  add_fields(found, _G)
  return found
end

-- The common prefix of all words.
local function common(words)
  local first, last = words[1], words[#words]
  local count = 0
  while count < #first and first:byte(count + 1) == last:byte(count + 1) do count = count + 1 end
  return first:sub(1, count)
end

local function in_columns(words)
  local width = 0
  for _, word in ipairs(words) do width = math.max(width, #word + 2) end
  local each = math.max(1, 78 // width)
  local lines = {}
  for place, word in ipairs(words) do
    local row = (place - 1) // each + 1
    lines[row] = (lines[row] or "") .. word .. (" "):rep(width - #word)
  end
  for row, line in ipairs(lines) do lines[row] = line:match "^(.-)%s*$" end
  return table.concat(lines, "\n")
end

--- The words that may end a text, in order; and how much of them is already typed.
function complete.words(text, environment)
  local value, word, sign = resolve(text, environment)
  if not word or value == nil and word == "" then return {}, "" end
  local found = sign and members_of(value, sign) or globals(environment)
  local words = {}
  for name, kind in pairs(found) do
    if name:sub(1, #word) == word and (word ~= "" or name:sub(1, 1) ~= "_") then
      words[#words + 1] = kind == "function" and name .. "(" or name
    end
  end
  table.sort(words)
  return words, word
end

--- What to insert after a text, and what to list if there are several possibilities.
function complete.of(text, environment)
  local words, word = complete.words(text, environment)
  if #words == 0 then return "", "" end
  local insertion = common(words):sub(#word + 1)
  if #words == 1 or insertion ~= "" then return insertion, "" end
  return "", in_columns(words)
end

return complete
