-- Reads JSON text as RFC 8259 defines it; anything else is an error with its position.
local marks = require "moonloop.json.marks"

-- Default limits for nesting and length.
local DEPTH_LIMIT = 200
local SIZE_LIMIT = 256 << 20

local ESCAPED = {
  b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ['"'] = '"', ["\\"] = "\\", ["/"] = "/",
}
local LITERALS = { t = { "true", true }, f = { "false", false }, n = { "null", nil } }

-- Raised as a table: the message and the byte position.
local function fail(at, what) error({ at = at, what = what }, 0) end

local function skip(text, at) return text:find("[^ \t\r\n]", at) or #text + 1 end

-- The character of the escape `\uXXXX` whose digits begin here; a surrogate pair is two escapes.
local function read_code(text, at)
  local code = tonumber(text:match("^%x%x%x%x", at) or fail(at, "four hex digits expected"), 16)
  if code & 0xF800 ~= 0xD800 then return utf8.char(code), at + 4 end
  local low = text:match("^\\u([dD][c-fC-F]%x%x)", at + 4)
  if code >= 0xDC00 or not low then fail(at, "half of a surrogate pair") end
  local rest = tonumber(low, 16) & 0x3FF
  return utf8.char(0x10000 + ((code & 0x3FF) << 10) + rest), at + 10
end

-- Reads a string after its opening quote.
local function read_string(text, at)
  local parts = {}
  while true do
    local stop = text:find('[\0-\31"\\]', at)
    if not stop then fail(#text + 1, "the string does not end") end
    parts[#parts + 1] = text:sub(at, stop - 1)
    local sign = text:sub(stop, stop)
    if sign == '"' then return table.concat(parts), stop + 1 end
    if sign ~= "\\" then fail(stop, "a control character in a string; write it as an escape") end
    local letter = text:sub(stop + 1, stop + 1)
    if letter == "u" then
      parts[#parts + 1], at = read_code(text, stop + 2)
    else
      parts[#parts + 1] = ESCAPED[letter] or fail(stop, "unknown escape")
      at = stop + 2
    end
  end
end

-- An integer if 64 bits can hold it; "-0" and numbers with a point or exponent become floats.
local function read_number(text, at)
  local digits = text:match("^-?%d+", at)
  if not digits then fail(at, "a value expected") end
  if digits:find "^-?0%d" then fail(at, "a number begins with an extra 0") end
  local past = at + #digits
  local fraction = text:match("^%.%d+", past) or ""
  past = past + #fraction
  local exponent = text:match("^[eE][+-]?%d+", past) or ""
  past = past + #exponent
  if text:find("^[.eE%w+-]", past) then fail(past, "the number is malformed") end
  local number = tonumber(digits .. fraction .. exponent)
  if digits == "-0" and fraction .. exponent == "" then number = -0.0 end
  if number == math.huge or number == -math.huge then fail(at, "the number is too large") end
  return number, past
end

local Reader = {}
Reader.__index = Reader

-- Reads what is between brackets, after the opening one; `read_one` reads an element.
function Reader:between(at, closing, read_one)
  if self.depth >= self.max_depth then
    fail(at - 1, ("nested more than %d deep"):format(self.max_depth))
  end
  self.depth = self.depth + 1
  local text = self.text
  at = skip(text, at)
  if text:sub(at, at) ~= closing then
    while true do
      at = skip(text, read_one(at))
      local sign = text:sub(at, at)
      if sign == closing then break end
      if sign ~= "," then fail(at, ("',' or '%s' expected"):format(closing)) end
      at = skip(text, at + 1)
    end
  end
  self.depth = self.depth - 1
  return at + 1
end

function Reader:list(at)
  local list, count = {}, 0
  return list, self:between(at, "]", function(place)
    count = count + 1
    list[count], place = self:value(place)
    return place
  end)
end

function Reader:object(at)
  local object, text = {}, self.text
  local past_object = self:between(at, "}", function(place)
    if text:sub(place, place) ~= '"' then fail(place, "a name in quotes expected") end
    local name, past = read_string(text, place + 1)
    past = skip(text, past)
    if text:sub(past, past) ~= ":" then fail(past, "':' expected") end
    object[name], past = self:value(past + 1)
    return past
  end)
  -- An empty one would else be written as a list.
  if text:find("^[ \t\r\n]*}", at) then setmetatable(object, marks.object) end
  return object, past_object
end

function Reader:value(at)
  local text = self.text
  at = skip(text, at)
  local sign = text:sub(at, at)
  if sign == '"' then return read_string(text, at + 1) end
  if sign == "{" then return self:object(at + 1) end
  if sign == "[" then return self:list(at + 1) end
  local literal = LITERALS[sign]
  if not literal then return read_number(text, at) end
  local past = at + #literal[1]
  if text:sub(at, past - 1) ~= literal[1] or text:find("^%w", past) then
    fail(at, "a value expected")
  end
  if literal[2] == nil then return self.null, past end
  return literal[2], past
end

local function read_whole(text, options)
  local max_size = options.max_size or SIZE_LIMIT
  if #text > max_size then fail(max_size + 1, ("longer than %d bytes"):format(max_size)) end
  local _, broken = utf8.len(text)
  if broken then fail(broken, "not UTF-8") end
  local reader = { text = text, depth = 0, max_depth = options.max_depth or DEPTH_LIMIT,
    null = options.null }
  local value, at = setmetatable(reader, Reader):value(1)
  at = skip(text, at)
  if at <= #text then fail(at, "more text follows the value") end
  return value
end

local function place_of(text, at)
  local before = text:sub(1, at - 1)
  local _, lines = before:gsub("\n", "")
  return lines + 1, at - (before:find "[^\n]*$" or 1) + 1
end

--- Reads the one value of a JSON text. Of equal names in an object the last one counts.
-- @param options `null`: what stands for null; by default nil: no field, and a gap in a list.
--   `max_depth` (200) and `max_size` in bytes (256 MiB): larger texts are refused
-- @return the value; or nil, message, code
return function(text, options)
  local ok, value = pcall(read_whole, text, options or {})
  if ok then return value end
  if type(value) ~= "table" then error(value, 0) end
  local line, column = place_of(text, value.at)
  return nil, ("json:%d:%d: %s"):format(line, column, value.what), "EBADMSG"
end
