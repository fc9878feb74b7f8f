-- Writes values as JSON text.
local values = require "moonloop.text.values"

local ESCAPES = {
  ['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n", ["\r"] = "\\r",
  ["\t"] = "\\t",
}

local function escaped(c) return ESCAPES[c] or ("\\u%04x"):format(c:byte()) end

-- Bytes that are not UTF-8 become the characters with the same codes, so that any text can be sent.
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

function Writer:number(number)
  if math.type(number) == "integer" then return ("%d"):format(number) end
  if number ~= number or number == math.huge or number == -math.huge then return "null" end
  return self.decimals and rounded(number, self.decimals) or float_text(number)
end

-- A value without a JSON form.
function Writer:other(value, what)
  if not self.is_lenient then error(("json: %s has no JSON form"):format(what), 0) end
  if what == "a cycle" then return string_text "(a cycle)" end
  return string_text(values.tostring(value))
end

function Writer:list(list)
  local parts = {}
  for place = 1, rawlen(list) do parts[place] = self:value(rawget(list, place)) end
  return "[" .. table.concat(parts, ",") .. "]"
end

function Writer:object(object)
  local texts, names = {}, {}
  for key, value in next, object do
    local is_name = type(key) == "string" or type(key) == "number"
    local name = is_name and string_text(tostring(key)) or self:other(key, "a key: a " .. type(key))
    if not texts[name] then names[#names + 1] = name end
    texts[name] = name .. ":" .. self:value(value)
  end
  table.sort(names)
  for place, name in ipairs(names) do names[place] = texts[name] end
  return "{" .. table.concat(names, ",") .. "}"
end

function Writer:value(value)
  local kind = type(value)
  if kind == "nil" then return "null" end
  if kind == "boolean" then return tostring(value) end
  if kind == "number" then return self:number(value) end
  if kind == "string" then return string_text(value) end
  if kind ~= "table" then return self:other(value, "a " .. kind) end
  if self.open[value] then return self:other(value, "a cycle") end
  self.open[value] = true
  local is_list = rawget(value, 1) ~= nil or next(value) == nil
  local text = is_list and self:list(value) or self:object(value)
  self.open[value] = nil
  return text
end

--- The JSON text of a value, on one line, with sorted names. A table with a first element is a
--- list, and so is an empty one. NaN and infinities become null.
-- @param options `decimals`: round floats to this many decimals, for reports; `is_lenient`: write
-- what
--   has no JSON form as its `tostring` text, instead of raising an error
return function(value, options)
  options = options or {}
  local writer = { decimals = options.decimals, is_lenient = options.is_lenient, open = {} }
  return setmetatable(writer, Writer):value(value)
end
