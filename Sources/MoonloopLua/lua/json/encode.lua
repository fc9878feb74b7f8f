-- Writes values as JSON text.
local marks = require "moonloop.json.marks"
local values = require "moonloop.text.values"

local DEPTH_LIMIT = 200

local ESCAPES = {
  ['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n", ["\r"] = "\\r",
  ["\t"] = "\\t",
}

local function escaped(c) return ESCAPES[c] or ("\\u%04x"):format(c:byte()) end

-- Bytes that are not UTF-8 become the characters with the same codes: for texts that are shown.
local function string_text(text)
  text = text:gsub('[%c"\\]', escaped)
  if not utf8.len(text) then
    text = text:gsub("[\128-\255]", function(c) return utf8.char(c:byte()) end)
  end
  return '"' .. text .. '"'
end

-- The shortest text that reads as the same float, and never as an integer.
local function float_text(number)
  local text = ("%.15g"):format(number)
  if tonumber(text) ~= number then text = ("%.17g"):format(number) end
  return text:find "[.e]" and text or text .. ".0"
end

-- A number for reports: rounded, without trailing zeros.
local function rounded(number, decimals)
  local text = ("%." .. decimals .. "f"):format(number)
  return text:find("%.") and text:gsub("0+$", ""):gsub("%.$", "") .. "" or text
end

local Writer = {}
Writer.__index = Writer

-- Where in the value the writer is: ".items[2]"; the beginning is enough if that is deep.
function Writer:where()
  local parts = {}
  for place = 1, math.min(self.depth, 10) do
    local key = values.key(self.path[place])
    parts[place] = math.type(self.path[place]) == "integer" and ("[%d]"):format(self.path[place])
      or key:find "^%[" and key or "." .. key
  end
  if self.depth > 10 then parts[#parts + 1] = "..." end
  return self.depth > 0 and ", at " .. table.concat(parts) or ""
end

-- Raised as a table, which no metamethod of a script raises.
function Writer:fail(what) error({ problem = what .. self:where() }, 0) end

function Writer:number(number)
  if math.type(number) == "integer" then return ("%d"):format(number) end
  if number ~= number or number == math.huge or number == -math.huge then return "null" end
  return self.decimals and rounded(number, self.decimals) or float_text(number)
end

function Writer:string(text)
  if not self.is_lenient and not utf8.len(text) then
    self:fail "a string that is not UTF-8 has no JSON form"
  end
  return string_text(text)
end

-- A value without a JSON form.
function Writer:other(value, what)
  if not self.is_lenient then self:fail(what .. " has no JSON form") end
  if what == "a cycle" then return string_text "(a cycle)" end
  return string_text(values.tostring(value))
end

-- How long a list is, gaps included; nil if it is an object; and a key that does not go with that.
local function length_of(value)
  if getmetatable(value) == marks.object then return nil end
  if rawget(value, 1) == nil then return next(value) == nil and 0 or nil end
  local count, last = 0, 0
  for key in next, value do
    if math.type(key) ~= "integer" or key < 1 then return nil, key end
    count, last = count + 1, math.max(last, key)
  end
  if last > 2 * count + 8 then return nil, last end
  return last
end

-- Between brackets; pretty, each part has a line of its own.
function Writer:enclosed(opening, parts, closing)
  if not self.is_pretty or #parts == 0 then
    return opening .. table.concat(parts, ",") .. closing
  end
  local outer = "\n" .. ("  "):rep(self.depth - 1)
  local inner = outer .. "  "
  return opening .. inner .. table.concat(parts, "," .. inner) .. outer .. closing
end

function Writer:list(list, length)
  local parts, path, depth = {}, self.path, self.depth
  for place = 1, length do
    path[depth] = place
    parts[place] = self:value(rawget(list, place))
  end
  return self:enclosed("[", parts, "]")
end

-- The name that a key of an object gets: that of a number is its text.
function Writer:name(object, key)
  if type(key) == "string" then return self:string(key) end
  if type(key) ~= "number" then return self:other(key, "a key: a " .. type(key)) end
  local name = tostring(key)
  if rawget(object, name) == nil then return string_text(name) end
  if not self.is_lenient then self:fail(('a key both as a number and as "%s"'):format(name)) end
  return string_text(values.key(key))
end

function Writer:object(object)
  local texts, names, colon = {}, {}, self.is_pretty and ": " or ":"
  for key, value in next, object do
    self.path[self.depth] = key
    local name = self:name(object, key)
    if not texts[name] then names[#names + 1] = name end
    texts[name] = name .. colon .. self:value(value)
  end
  table.sort(names)
  for place, name in ipairs(names) do names[place] = texts[name] end
  return self:enclosed("{", names, "}")
end

function Writer:table(value)
  if value == marks.null then return "null" end
  if self.open[value] then return self:other(value, "a cycle") end
  local length, odd = length_of(value)
  if odd ~= nil and not self.is_lenient then
    self:fail(math.type(odd) == "integer" and odd > 0 and "a list with a gap before " .. odd
      or ("a list with the key '%s' as well"):format(values.tostring(odd)))
  end
  if self.depth >= self.max_depth then
    if self.is_lenient then return string_text "(nested too deep)" end
    self:fail(("nested more than %d deep"):format(self.max_depth))
  end
  self.open[value], self.depth = true, self.depth + 1
  local text = length and self:list(value, length) or self:object(value)
  self.open[value], self.depth = nil, self.depth - 1
  return text
end

function Writer:value(value)
  local kind = type(value)
  if kind == "nil" then return "null" end
  if kind == "boolean" then return tostring(value) end
  if kind == "number" then return self:number(value) end
  if kind == "string" then return self:string(value) end
  if kind ~= "table" then return self:other(value, "a " .. kind) end
  return self:table(value)
end

--- The JSON text of a value, with sorted names. A table with a first element is a list, and so is
--- an empty one that was not marked as an object. NaN and infinities become null.
-- @param options `pretty`: a line for each part; `decimals`: round floats to this many decimals,
--   for reports; `max_depth` (200); `is_lenient`: write what has no JSON form as its `tostring`
--   text, instead of failing
-- @return the text; or nil and what is wrong with the value, and where in it
return function(value, options)
  local writer = { decimals = options.decimals, is_lenient = options.is_lenient, open = {},
    is_pretty = options.pretty, max_depth = options.max_depth or DEPTH_LIMIT, depth = 0,
    path = {} }
  local ok, text = pcall(Writer.value, setmetatable(writer, Writer), value)
  if ok then return text end
  if type(text) ~= "table" then error(text, 0) end
  return nil, text.problem
end
