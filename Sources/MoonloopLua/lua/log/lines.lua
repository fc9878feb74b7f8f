-- Records of ml.log as lines, in each of its forms: text, JSON, and what the journal reads.
local ml = require "moonloop"
local encode = require "moonloop.json.encode"
local quoting = require "moonloop.text.quoting"
local values = require "moonloop.text.values"
local date = os.date

-- What the journal calls the levels.
local PRIORITIES = { debug = 7, info = 6, warn = 4, error = 3 }
-- The limit for a record, in bytes.
local RECORD_LIMIT = 65536

local lines = {}

local function stamp()
  local now = ml.wall_time()
  local whole = math.floor(now)
  return date("!%Y-%m-%dT%H:%M:%S", whole) .. (".%03dZ"):format(math.floor((now - whole) * 1000))
end

-- A value of a field as one word: quoted if it would not read as one.
local function word(value)
  local text = type(value) == "table" and encode(value, { is_lenient = true })
    or values.tostring(value)
  return text:find "^[%w_./:@%%+,-]+$" and text or quoting.quoted(text)
end

local function words_of(fields)
  local names, parts = {}, {}
  for name in pairs(fields) do names[#names + 1] = name end
  table.sort(names, values.before)
  for place, name in ipairs(names) do
    parts[place] = (" %s=%s"):format(values.tostring(name):gsub("[%s%c=]", "_"), word(fields[name]))
  end
  return table.concat(parts)
end

-- One line: what is not text in a message is written as escapes.
local function plain(message)
  if not message:find "[%c\127-\255]" then return message end
  return (quoting.quoted(message):sub(2, -2):gsub('\\(["\\])', "%1"))
end

--- A line of a record, by the name of its form.
local forms = {}
lines.forms = forms

function forms.text(level, message, fields)
  return ("%s %-5s %s%s"):format(stamp(), level, plain(message), words_of(fields))
end

-- The journal has the time, and reads the priority from the beginning of a line.
function forms.journal(level, message, fields)
  return ("<%d>%s%s"):format(PRIORITIES[level], plain(message), words_of(fields))
end

--- Sets what a record has of its own; a field with the same name gets a longer one.
function lines.claim(record, name, value)
  local field, longer = record[name], name
  if field ~= nil then
    repeat longer = "fields." .. longer until record[longer] == nil
    record[longer] = field
  end
  record[name] = value
end

function forms.json(level, message, fields)
  local record = {}
  for name, value in pairs(fields) do record[name] = value end
  lines.claim(record, "time", stamp())
  lines.claim(record, "level", level)
  lines.claim(record, "message", message)
  return encode(record, { is_lenient = true })
end

-- The first bytes of a text, without half a character at the end.
local function cut(text, most)
  if #text <= most then return text end
  while most > 0 and text:find("^[\128-\191]", most + 1) do most = most - 1 end
  return text:sub(1, most) .. "..."
end

-- A JSON record stays one: its texts are cut, and if that is not enough, its fields are left out.
local function cut_values(values, most)
  local made = {}
  for name, value in pairs(values) do
    made[name] = type(value) == "string" and cut(value, most) or value
  end
  return made
end

--- The line of a record, which is never longer than the limit.
function lines.make(form, level, message, fields)
  local line = form(level, message, fields)
  if #line <= RECORD_LIMIT then return line end
  if form ~= forms.json then return cut(line, RECORD_LIMIT - 3) end
  message = cut(message, 1000)
  line = form(level, message, cut_values(fields, 1000))
  return #line <= RECORD_LIMIT and line
    or form(level, message, { fields = "left out: the record is too long" })
end

return lines
