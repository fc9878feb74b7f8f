-- JSON (RFC 8259), the one codec of consoles, reports, traces, plans and scripts: a strict reader,
-- and a writer for any value. See docs/decisions/0014 and 0034.
local check = require "moonloop.text.options"
local host = require "moonloop.text.host"
local quoting = require "moonloop.text.quoting"
local units = require "moonloop.text.units"
local values = require "moonloop.text.values"
local mistake = host.mistake

local DEPTH_LIMIT, SIZE_LIMIT = 200, 256 << 20
local DEPTH, SIZE = { "integer", 1, 10000 }, { "integer", 1, 1 << 40 }
local READING = { null = "any", max_depth = DEPTH, max_size = SIZE }
local WRITING = { pretty = "boolean", decimals = { "integer", 0, 17 }, is_lenient = "boolean",
  max_depth = DEPTH, max_size = SIZE }

local OBJECT = {}  -- the metatable of a table that is an object, even if it is empty or has a 1
local NULL = setmetatable({}, {
  __tostring = function() return "null" end,
  __newindex = function() mistake "ml.json.null: cannot have fields" end,
  __metatable = false,
})

local json = { null = NULL }

function json.object(fields)
  if fields ~= nil and type(fields) ~= "table" then
    mistake(("ml.json.object: takes a table, got %s"):format(host.given(fields)))
  end
  return setmetatable(fields or {}, OBJECT)
end

local ESCAPED = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }

-- Raised as a table: the message and the byte position.
local function fail(at, what) error({ at = at, what = what }, 0) end
local function skip(text, at) return text:find("[^ \t\r\n]", at) or #text + 1 end

-- The character of an escape, which begins after its backslash; a surrogate pair is two escapes.
local function read_escape(text, at)
  local letter = text:sub(at, at)
  local plain = ESCAPED[letter] or letter:match '["\\/]'
  if plain then return plain, at + 1 end
  if letter ~= "u" then fail(at - 1, "unknown escape") end
  local digits = text:match("^%x%x%x%x", at + 1) or fail(at + 1, "four hex digits expected")
  local code = tonumber(digits, 16)
  if code & 0xF800 ~= 0xD800 then return utf8.char(code), at + 5 end
  local low = text:match("^\\u([dD][c-fC-F]%x%x)", at + 5)
  if code >= 0xDC00 or not low then fail(at + 1, "half of a surrogate pair") end
  return utf8.char(0x10000 + ((code & 0x3FF) << 10) + (tonumber(low, 16) & 0x3FF)), at + 11
end

-- Reads a string after its opening quote.
local function read_string(text, at)
  local parts
  while true do
    local stop = text:find('[\0-\31"\\]', at) or fail(#text + 1, "the string does not end")
    local part, sign = text:sub(at, stop - 1), text:sub(stop, stop)
    if sign == '"' then return parts and table.concat(parts) .. part or part, stop + 1 end
    if sign ~= "\\" then fail(stop, "a control character in a string; write it as an escape") end
    parts = parts or {}
    parts[#parts + 1] = part
    parts[#parts + 1], at = read_escape(text, stop + 1)
  end
end

-- An integer if 64 bits can hold it; "-0" and numbers with a point or exponent become floats.
local function read_number(text, at)
  local word = text:match("^-?%d[%w.+-]*", at) or fail(at, "a value expected")
  if word:find "^-?0%d" then fail(at, "a number begins with an extra 0") end
  local past = word:match "^-?%d+%.%d+()" or word:match "^-?%d+()"
  past = word:match("^[eE][+-]?%d+()", past) or past
  if past <= #word then fail(at + past - 1, "the number is malformed") end
  local number = word == "-0" and -0.0 or tonumber(word)
  if number == math.huge or number == -math.huge then fail(at, "the number is too large") end
  return number, at + #word
end

local read_value

-- Reads a list or an object after its opening bracket.
local function read_table(text, at, options, depth, is_object)
  local all, place, closing = {}, 0, is_object and "}" or "]"
  at = skip(text, at)
  local sign = text:sub(at, at)
  while sign ~= closing do
    if is_object then
      if text:sub(at, at) ~= '"' then fail(at, "a name in quotes expected") end
      place, at = read_string(text, at + 1)
      at = skip(text, at)
      if text:sub(at, at) ~= ":" then fail(at, "':' expected") end
      at = skip(text, at + 1)
    else
      place = place + 1
    end
    all[place], at = read_value(text, at, options, depth)
    at = skip(text, at)
    sign = text:sub(at, at)
    if sign == "," then at = skip(text, at + 1)
    elseif sign ~= closing then fail(at, ("',' or '%s' expected"):format(closing)) end
  end
  -- An empty object would else be written as a list.
  if is_object and next(all) == nil then setmetatable(all, OBJECT) end
  return all, at + 1
end

function read_value(text, at, options, depth)
  local sign = text:sub(at, at)
  if sign == '"' then return read_string(text, at + 1) end
  if sign == "[" or sign == "{" then
    if depth >= (options.max_depth or DEPTH_LIMIT) then
      fail(at, ("nested more than %d deep"):format(depth))
    end
    return read_table(text, at + 1, options, depth + 1, sign == "{")
  end
  local word = text:match("^%a%w*", at)
  if not word then return read_number(text, at) end
  if word == "null" then return options.null, at + 4 end
  if word == "true" or word == "false" then return word == "true", at + #word end
  fail(at, "a value expected")
end

local function read_whole(text, options)
  local max_size = options.max_size or SIZE_LIMIT
  if #text > max_size then fail(max_size + 1, ("longer than %d bytes"):format(max_size)) end
  local _, broken = utf8.len(text)
  if broken then fail(broken, "not UTF-8") end
  local value, at = read_value(text, skip(text, 1), options, 0)
  at = skip(text, at)
  if at <= #text then fail(at, "more text follows the value") end
  return value
end

function json.decode(text, options)
  if type(text) ~= "string" then
    mistake("ml.json.decode: takes a string, got " .. host.given(text))
  end
  local ok, value = pcall(read_whole, text, check("ml.json.decode", options, READING))
  if ok then return value end
  if type(value) ~= "table" then error(value, 0) end
  local before = text:sub(1, value.at - 1)
  local _, lines = before:gsub("\n", "")
  local column = value.at - (before:match "^.*\n()" or 1) + 1
  return nil, ("json:%d:%d: %s"):format(lines + 1, column, value.what), "EBADMSG"
end

local Writer = {}
Writer.__index = Writer

-- What has no JSON form: its place in the value, ".items[2]", whose beginning is enough if that is
-- deep; or a text for it. Raised as a table, which no metamethod of a script raises.
function Writer:odd(what, text, hint)
  if self.options.is_lenient then return quoting.json(text) end
  for place = 1, math.min(self.depth, 10) do
    local key = values.key(self.path[place])
    what = what .. (place == 1 and ", at " or "") .. (key:find "^%[" and "" or ".") .. key
  end
  error({ problem = what .. (self.depth > 10 and "..." or ""), hint = hint }, 0)
end

-- Counts what the text is made of, before it is put together: a limit ends that early.
function Writer:count(text)
  self.left = self.left - #text
  if self.left >= 0 then return text end
  error({ problem = ("longer than %d bytes"):format(self.options.max_size or SIZE_LIMIT) }, 0)
end

function Writer:string(text)
  if #text > self.left then self:count(text) end
  if utf8.len(text) then return quoting.json(text) end
  return self:odd("a string that is not UTF-8 has no JSON form", text)
end

-- How long a list is, gaps included; nil if it is an object; what is wrong with a list, and what to
-- do.
local function length_of(value)
  if getmetatable(value) == OBJECT then return nil end
  if rawget(value, 1) == nil then return next(value) == nil and 0 or nil end
  local count, last = 0, 0
  for key in next, value do
    if math.type(key) ~= "integer" or key < 1 then
      return nil, ("a list has the key '%s' as well"):format(values.tostring(key)),
        "; ml.json.object(t) makes an object of it"
    end
    count, last = count + 1, math.max(last, key)
  end
  if last > 2 * count + 8 then
    return nil, ("a list has a gap before [%d]"):format(last), "; ml.json.null fills one"
  end
  return last
end

-- The name that a key of an object gets: that of a number is its text.
function Writer:name(object, key)
  if type(key) == "string" then return self:string(key) end
  local kind, name = type(key), values.tostring(key)
  if kind ~= "number" then return self:odd(("a key: a %s has no JSON form"):format(kind), name) end
  if rawget(object, name) == nil then return quoting.json(name) end
  return self:odd(('a key both as a number and as "%s"'):format(name), values.key(key))
end

-- What is between the brackets of a list, or of an object with its names in order.
function Writer:parts(value, length)
  local parts, path, depth, colon = {}, self.path, self.depth, self.options.pretty and ": " or ":"
  for place = 1, length or 0 do
    path[depth] = place
    parts[place] = self:value(rawget(value, place))
  end
  if length then return parts, "[", "]" end
  for key, field in next, value do
    path[depth] = key
    parts[#parts + 1] = self:count(self:name(value, key)) .. colon .. self:value(field)
  end
  table.sort(parts)
  return parts, "{", "}"
end

function Writer:table(value)
  if self.open[value] then return self:odd("a cycle has no JSON form", "(a cycle)") end
  local length, problem, hint = length_of(value)
  if problem and not self.options.is_lenient then self:odd(problem, nil, hint) end
  if self.depth >= (self.options.max_depth or DEPTH_LIMIT) then
    return self:odd(("nested more than %d deep"):format(self.depth), "(nested too deep)")
  end
  self:count "[]"
  self.open[value], self.depth = true, self.depth + 1
  local parts, opening, closing = self:parts(value, length)
  self.open[value], self.depth = nil, self.depth - 1
  local outer = self.options.pretty and #parts > 0 and "\n" .. ("  "):rep(self.depth) or ""
  local inner = outer == "" and "" or outer .. "  "
  return opening .. inner .. table.concat(parts, "," .. inner) .. outer .. closing
end

function Writer:value(value)
  local kind = type(value)
  if kind == "table" and not rawequal(value, NULL) then return self:table(value) end
  return self:count(kind == "string" and self:string(value)
    or kind == "number" and units.json(value, self.options.decimals)
    or kind == "boolean" and tostring(value) or (kind == "nil" or kind == "table") and "null"
    or self:odd(("a %s has no JSON form"):format(kind), values.tostring(value)))
end

function json.encode(value, options)
  options = check("ml.json.encode", options, WRITING)
  local writer = setmetatable({ options = options, open = {}, path = {}, depth = 0,
    left = options.max_size or SIZE_LIMIT }, Writer)
  local ok, text = pcall(writer.value, writer, value)
  if ok then return text end
  if type(text) ~= "table" then error(text, 0) end
  mistake("ml.json.encode: " .. text.problem, text.hint)
end

return json
