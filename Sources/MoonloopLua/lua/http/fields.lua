-- The fields of a head, as tables and as lines.
local heads = require "moonloop.http.heads"
local values = require "moonloop.text.values"

local fields = {}

-- Names are lower case; lookups ignore case.
local Fields = {}
Fields.__index = function(self, name)
  return type(name) == "string" and rawget(self, name:lower()) or nil
end
fields.meta = Fields

--- A table of fields, with those of another one.
function fields.new(others)
  if others == nil then return setmetatable({}, Fields) end
  if type(others) ~= "table" then
    error("http: the headers must be a table, got a " .. type(others), 0)
  end
  local made = setmetatable({}, Fields)
  for name, value in pairs(others) do
    if type(name) ~= "string" then
      error(("http: the headers have names, e.g. { accept = \"text/html\" }; got [%s]")
        :format(values.tostring(name)), 0)
    end
    made[name:lower()] = value
  end
  return made
end

--- Whether a list of words, such as the value of Connection, has a word.
function fields.has(value, word)
  if not value or value == word then return value ~= nil end
  for one in value:gmatch "[^,%s]+" do
    if one:lower() == word then return true end
  end
  return false
end

local function refuse(name, what)
  error(("http: the field '%s' must be a string, a number or a list of them, got %s")
    :format(name, what), 0)
end

-- The values of a field; a list has no gaps and no other keys.
local function values_of(name, value)
  for key in pairs(value) do
    if math.type(key) ~= "integer" or key < 1 or key > #value then
      refuse(name, "a table with " .. values.key(key))
    end
  end
  return value
end

local function line_of(name, value)
  local kind = type(value)
  if kind ~= "string" and kind ~= "number" then refuse(name, "a " .. kind) end
  value = tostring(value)
  if not name:find "^[!#$%%&'*+%-.^_`|~%w]+$" then
    error(("http: %q is not the name of a header"):format(name), 0)
  end
  if value:find "[\0-\8\10-\31\127]" then
    error(("http: header '%s' contains a %s"):format(name,
      value:find "[\r\n]" and "line break" or "control character"), 0)
  end
  return name .. ": " .. value
end

--- The lines of a head, sorted by field name; a list makes a line for each element. Raises an error
--- for values that would break the head.
function fields.head(first, self)
  local text = heads.write(first, self)
  if text then return text end
  local lines = { first }
  for _, name in ipairs(values.keys(self)) do
    local value = self[name]
    if type(value) ~= "table" then
      lines[#lines + 1] = line_of(name, value)
    else
      for _, one in ipairs(values_of(name, value)) do lines[#lines + 1] = line_of(name, one) end
    end
  end
  return table.concat(lines, "\r\n") .. "\r\n\r\n"
end

--- A point in time, in seconds since 1970, as in the field Date.
function fields.date(seconds)
  return os.date("!%a, %d %b %Y %H:%M:%S GMT", math.floor(seconds))
end

local now, now_text
--- The value of Date.
function fields.now()
  local time = os.time()
  if time ~= now then now, now_text = time, fields.date(time) end
  return now_text
end

local MONTHS = {}
for month, name in ipairs { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct",
  "Nov", "Dec" } do MONTHS[name] = month end

--- Reverses `date`; nil for anything else.
function fields.parse_date(text)
  local day, name, year, hour, min, sec =
    (text or ""):match "^%a+, (%d%d) (%a+) (%d%d%d%d) (%d%d):(%d%d):(%d%d) GMT$"
  local month = MONTHS[name]
  if not month then return nil end
  -- Days since 1970 of a year that begins in March.
  local shifted = year - (month < 3 and 1 or 0)
  local days = 365 * shifted + shifted // 4 - shifted // 100 + shifted // 400
    + (153 * ((month + 9) % 12) + 2) // 5 + day - 1 - 719468
  return math.tointeger(((days * 24 + hour) * 60 + min) * 60 + sec)
end

return fields
