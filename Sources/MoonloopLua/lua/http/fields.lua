-- The fields of a head, as tables and as lines.
local heads = require "moonloop.http.heads"
local host = require "moonloop.text.host"
local values = require "moonloop.text.values"

local mistake = host.mistake

local fields = {}

-- Names are lower case; lookups ignore case.
local Fields = {}
Fields.__index = function(self, name)
  return type(name) == "string" and rawget(self, name:lower()) or nil
end
fields.meta = Fields

--- A table of fields, with those of another one.
-- @param what begins messages: "ml.http.get"
function fields.new(others, what)
  if others == nil then return setmetatable({}, Fields) end
  if type(others) ~= "table" then
    mistake(("%s: the headers must be a table, got %s"):format(what, host.given(others)))
  end
  local made = setmetatable({}, Fields)
  for name, value in pairs(others) do
    if type(name) ~= "string" then
      mistake(("%s: the headers have names, e.g. { accept = \"text/html\" }; got [%s]")
        :format(what, values.tostring(name)))
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

local function refuse(what, name, given)
  mistake(("%s: the header '%s' must be a string, a number or a list of them, got %s")
    :format(what, name, given))
end

-- The values of a field; a list has no gaps and no other keys.
local function values_of(what, name, value)
  local count = 0
  for key in pairs(value) do
    if math.type(key) ~= "integer" or key < 1 or key > #value then
      refuse(what, name, "a table with " .. values.key(key))
    end
    count = count + 1
  end
  if count < #value then refuse(what, name, "a list with gaps") end
  return value
end

local function line_of(what, name, value)
  local kind = type(value)
  if kind ~= "string" and kind ~= "number" then refuse(what, name, host.given(value)) end
  value = tostring(value)
  if not name:find "^[!#$%%&'*+%-.^_`|~%w]+$" then
    mistake(("%s: %q is not the name of a header"):format(what, name))
  end
  if value:find "[\0-\8\10-\31\127]" then
    mistake(("%s: the header '%s' contains a %s"):format(what, name,
      value:find "[\r\n]" and "line break" or "control character"))
  end
  return name .. ": " .. value
end

--- The lines of a head, sorted by field name; a list makes a line for each element. Raises an error
--- for values that would break the head.
-- @param what begins its message: "ml.http.get"
function fields.head(first, self, what)
  local text = heads.write(first, self)
  if text then return text end
  local lines = { first }
  for _, name in ipairs(values.keys(self)) do
    local value = self[name]
    if type(value) ~= "table" then
      lines[#lines + 1] = line_of(what, name, value)
    else
      for _, one in ipairs(values_of(what, name, value)) do
        lines[#lines + 1] = line_of(what, name, one)
      end
    end
  end
  return table.concat(lines, "\r\n") .. "\r\n\r\n"
end

--- The length of a body that fields announce; nil: none.
function fields.length(self, what)
  local value = self["content-length"]
  if value == nil then return nil end
  local text = tostring(value)
  if text:find "^%d+$" and #text <= 15 then return math.tointeger(tonumber(text)) end
  mistake(("%s: the header 'content-length' must be one whole number of bytes, got %s"):format(what,
    host.given(value)))
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
