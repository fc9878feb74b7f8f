-- What a console and the program it looks into say to one another: lines of JSON.
local wire = {}

-- A longer line is nothing that anybody typed; in bytes.
wire.LINE_LIMIT = 1 << 20

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t" }

-- Bytes that are no UTF-8 become the characters of the same numbers: the line is text in any case.
local function quoted(text)
  local safe = text:gsub('[%c"\\\127]', function(c)
    return escapes[c] or ("\\u%04x"):format(c:byte())
  end)
  if not utf8.len(safe) then
    safe = safe:gsub("[\128-\255]", function(c) return utf8.char(c:byte()) end)
  end
  return '"' .. safe .. '"'
end

local function number(value)
  if value ~= value or value == math.huge or value == -math.huge then return "null" end
  if math.type(value) == "integer" then return ("%d"):format(value) end
  return ("%.17g"):format(value)
end

local encode

local function list_of(value, seen)
  local parts = {}
  for place = 1, #value do parts[place] = encode(rawget(value, place), seen) end
  return "[" .. table.concat(parts, ",") .. "]"
end

local function object_of(value, seen)
  local parts = {}
  for key, field in next, value do
    local name = type(key) == "string" and key or tostring(key)
    parts[#parts + 1] = quoted(name) .. ":" .. encode(field, seen)
  end
  table.sort(parts)
  return "{" .. table.concat(parts, ",") .. "}"
end

--- The text of a value. A table with a first element is a list; what JSON has no word for is the
--- text that `tostring` gives.
function encode(value, seen)
  local kind = type(value)
  if kind == "nil" then return "null" end
  if kind == "boolean" then return tostring(value) end
  if kind == "number" then return number(value) end
  if kind ~= "table" then return quoted(kind == "string" and value or tostring(value)) end
  seen = seen or {}
  if seen[value] then return quoted "(a cycle)" end
  seen[value] = true
  local text = rawget(value, 1) ~= nil and list_of(value, seen) or object_of(value, seen)
  seen[value] = nil
  return text
end
wire.encode = encode

local plain = { n = "\n", r = "\r", t = "\t", b = "\b", f = "\f" }

-- The character of an escape behind `at`, whose half may be the next escape; and what is behind it.
local function escaped(text, at)
  local code = tonumber(text:sub(at, at + 3), 16) or 0xFFFD
  local low = text:match("^\\u([dD][c-fC-F]%x%x)", at + 4)
  if low and code >> 10 == 0xD800 >> 10 then
    return utf8.char(0x10000 + ((code & 0x3FF) << 10) + (tonumber(low, 16) & 0x3FF)), at + 10
  end
  return utf8.char(code), at + 4
end

local function unquoted(text)
  local parts, at = {}, 1
  while true do
    local slash = text:find("\\", at, true)
    if not slash then break end
    parts[#parts + 1] = text:sub(at, slash - 1)
    local c = text:sub(slash + 1, slash + 1)
    if c == "u" then
      parts[#parts + 1], at = escaped(text, slash + 2)
    else
      parts[#parts + 1], at = plain[c] or c, slash + 2
    end
  end
  return table.concat(parts) .. text:sub(at)
end

local decode

local function decode_string(text, at)
  local from = at + 1
  local stop = from
  while true do
    stop = text:find('["\\]', stop)
    if not stop then error("a string does not end", 0) end
    if text:byte(stop) == 34 then break end
    stop = stop + 2
  end
  local raw = text:sub(from, stop - 1)
  return raw:find("\\", 1, true) and unquoted(raw) or raw, stop + 1
end

local function decode_table(text, at, is_list)
  local made, closing = {}, is_list and "]" or "}"
  at = text:find("%S", at + 1)
  if at and text:sub(at, at) == closing then return made, at + 1 end
  while at do
    local key
    if is_list then
      key = #made + 1
    else
      key, at = decode(text, at)
      at = text:match("^%s*:%s*()", at)
      if not at then break end
    end
    made[key], at = decode(text, at)
    local sign, next_at = text:match("^%s*([,%]}])%s*()", at)
    if sign == closing then return made, at and text:match("^%s*[%]}]()", at) end
    at = sign == "," and next_at or nil
  end
  error("a list or object does not end", 0)
end

local words = { ["true"] = true, ["false"] = false }

function decode(text, at)
  at = text:find("%S", at) or #text + 1
  local first = text:sub(at, at)
  if first == '"' then return decode_string(text, at) end
  if first == "{" or first == "[" then return decode_table(text, at, first == "[") end
  local digits, past = text:match("^(-?%d[%d.eE+-]*)()", at)
  if digits then return tonumber(digits), past end
  local word
  word, past = text:match("^(%a+)()", at)
  if word == "null" then return nil, past end
  if words[word] ~= nil then return words[word], past end
  error("not understood from '" .. text:sub(at, at + 15) .. "' on", 0)
end

--- The value of a line; or nil and what is wrong with it.
function wire.decode(text)
  local ok, value = pcall(decode, text, 1)
  if not ok then return nil, value end
  return value
end

return wire
