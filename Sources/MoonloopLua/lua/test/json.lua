-- JSON text of plain data: what the JSON lines of a report and of workers are made of.
local json = {}

local escapes = {
  ['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n", ["\r"] = "\\r",
  ["\t"] = "\\t",
}

local function control(c) return escapes[c] or ("\\u%04x"):format(c:byte()) end

local function string_text(text)
  local escaped = text:gsub('[%c"\\\127]', control)
  -- Bytes that are no UTF-8 are shown as the characters of the same number.
  if not utf8.len(text) then escaped = escaped:gsub("[\128-\255]", control) end
  return '"' .. escaped .. '"'
end

local function number_text(number)
  if number ~= number or number == math.huge or number == -math.huge then return "null" end
  if math.type(number) == "integer" then return ("%d"):format(number) end
  return ("%.6f"):format(number):gsub("0+$", ""):gsub("%.$", "") .. ""
end

--- The JSON text of a value. A table with a first element, or an empty one, is a list.
function json.encode(value)
  local kind = type(value)
  if kind == "string" then return string_text(value) end
  if kind == "number" then return number_text(value) end
  if kind ~= "table" then return tostring(value) end
  local parts = {}
  if value[1] ~= nil or next(value) == nil then
    for _, item in ipairs(value) do parts[#parts + 1] = json.encode(item) end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  local keys = {}
  for key in pairs(value) do keys[#keys + 1] = key end
  table.sort(keys)
  for _, key in ipairs(keys) do
    parts[#parts + 1] = string_text(key) .. ":" .. json.encode(value[key])
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

-- ── reading ────────────────────────────────────────────────────────────────────────────────────

local unescaped = {
  b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ['"'] = '"', ["\\"] = "\\", ["/"] = "/",
}

local read

local function skip(text, at) return text:find("[^ \t\r\n]", at) or #text + 1 end

local function read_string(text, at)
  local parts = {}
  while true do
    local stop = text:find('["\\]', at)
    if not stop then error("json: a string does not end", 0) end
    parts[#parts + 1] = text:sub(at, stop - 1)
    if text:byte(stop) == 34 then return table.concat(parts), stop + 1 end
    local letter = text:sub(stop + 1, stop + 1)
    if letter == "u" then
      local code = tonumber(text:sub(stop + 2, stop + 5), 16)
      if not code then error("json: bad \\u escape", 0) end
      parts[#parts + 1] = utf8.char(code)
      at = stop + 6
    else
      parts[#parts + 1] = unescaped[letter] or error("json: bad escape", 0)
      at = stop + 2
    end
  end
end

local function read_list(text, at)
  local list = {}
  at = skip(text, at)
  if text:sub(at, at) == "]" then return list, at + 1 end
  while true do
    list[#list + 1], at = read(text, at)
    at = skip(text, at)
    local sign = text:sub(at, at)
    if sign == "]" then return list, at + 1 end
    if sign ~= "," then error("json: ',' or ']' expected", 0) end
    at = at + 1
  end
end

local function read_object(text, at)
  local object = {}
  at = skip(text, at)
  if text:sub(at, at) == "}" then return object, at + 1 end
  while true do
    at = skip(text, at)
    if text:sub(at, at) ~= '"' then error("json: a name expected", 0) end
    local key
    key, at = read_string(text, at + 1)
    at = skip(text, at)
    if text:sub(at, at) ~= ":" then error("json: ':' expected", 0) end
    object[key], at = read(text, at + 1)
    at = skip(text, at)
    local sign = text:sub(at, at)
    if sign == "}" then return object, at + 1 end
    if sign ~= "," then error("json: ',' or '}' expected", 0) end
    at = at + 1
  end
end

local literals = { { "true", true }, { "false", false }, { "null", nil } }

function read(text, at)
  at = skip(text, at)
  local sign = text:sub(at, at)
  if sign == '"' then return read_string(text, at + 1) end
  if sign == "{" then return read_object(text, at + 1) end
  if sign == "[" then return read_list(text, at + 1) end
  for _, literal in ipairs(literals) do
    if text:sub(at, at + #literal[1] - 1) == literal[1] then return literal[2], at + #literal[1] end
  end
  local number = text:match("^-?%d[%d.eE+-]*", at)
  if not number or not tonumber(number) then error("json: a value expected", 0) end
  return math.tointeger(tonumber(number)) or tonumber(number), at + #number
end

--- Reads a JSON text; `null` in lists ends them, which our own lines have none of.
-- @return the value; or nil and a message
function json.decode(text)
  local ok, value, at = pcall(read, text, 1)
  if not ok then return nil, value end
  if skip(text, at) <= #text then return nil, "json: something follows the value" end
  return value
end

return json
