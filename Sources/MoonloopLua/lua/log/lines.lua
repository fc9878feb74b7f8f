-- Records of ml.log as lines, in each of its forms: text, JSON, and what the journal reads.
local ml = require "moonloop"
local encode = require("moonloop.json").encode
local quoting = require "moonloop.text.quoting"
local units = require "moonloop.text.units"
local values = require "moonloop.text.values"

local SHOWN = { is_lenient = true }
local RECORD_LIMIT, TEXT_LIMIT = 65536, 1000  -- of a record, and of a text in one that is longer

-- Levels are those of the journal. A form makes a line of a record.
local forms, levels = {}, { debug = 7, info = 6, warn = 4, error = 3 }
local lines = { forms = forms, levels = levels }

--- A table with the fields of both; the second, which may be nil, wins.
function lines.merged(one, other)
  local all = {}
  for name, value in pairs(one) do all[name] = value end
  if other then for name, value in pairs(other) do all[name] = value end end
  return all
end

local function words(message, fields)
  local parts = { quoting.line(message) }
  for place, name in ipairs(values.keys(fields)) do
    local value = fields[name]
    local text = type(value) == "table" and encode(value, SHOWN) or values.tostring(value)
    -- Quoted if it would not read as one word.
    if not text:find "^[%w_./:@%%+,-]+$" then text = quoting.quoted(text) end
    parts[place + 1] = values.tostring(name):gsub("[%s%c=]", "_") .. "=" .. text
  end
  return table.concat(parts, " ")
end

function forms.text(level, message, fields)
  return ("%s %-5s %s"):format(units.stamp(ml.wall_time()), level, words(message, fields))
end

-- The journal has the time, and reads the priority from the beginning of a line.
function forms.journal(level, message, fields)
  return ("<%d>%s"):format(levels[level], words(message, fields))
end

-- A field that is called like what each record has gets a longer name.
function forms.json(level, message, fields)
  local record = lines.merged(fields)
  local own = { time = units.stamp(ml.wall_time()), level = level, message = message }
  for name, value in pairs(own) do
    local field, longer = record[name], name
    while record[longer] ~= nil do longer = "fields." .. longer end
    record[longer] = field
    record[name] = value
  end
  return encode(record, SHOWN)
end

--- The line of a record, which is never longer than the limit. A JSON record stays one: its texts
--- are cut, and if that is not enough, its fields are left out.
function lines.make(form, level, message, fields)
  local line = form(level, message, fields)
  if #line <= RECORD_LIMIT then return line end
  if form ~= forms.json then return quoting.cut(line, RECORD_LIMIT - 3, "...") end
  local short = {}
  for name, value in pairs(fields) do
    short[name] = type(value) == "string" and quoting.cut(value, TEXT_LIMIT, "...") or value
  end
  message = quoting.cut(message, TEXT_LIMIT, "...")
  line = form(level, message, short)
  return #line <= RECORD_LIMIT and line
    or form(level, message, { fields = "left out: the record is too long" })
end

return lines
