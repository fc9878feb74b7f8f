-- Rules for the values of a configuration. A rule checks one value and reports what it expected.
-- All mistakes are collected; none is raised.

local lists = require "moonloop.text.lists"
local quoting = require "moonloop.text.quoting"
local spelling = require "moonloop.text.spelling"
local units = require "moonloop.text.units"

local rules = {}

-- A value as text: itself if it is short, else its type.
function rules.given(value)
  local kind = type(value)
  if kind == "string" then
    return #value <= 40 and quoting.quoted(value, 40) or ("a string of %d bytes"):format(#value)
  end
  if kind == "nil" then return "nothing" end
  if value ~= value then return "nan" end
  if kind == "number" or kind == "boolean" then return tostring(value) end
  return "a " .. kind
end

local function expect(words, accepts)
  return function(report, path, value)
    if accepts(value) then return true end
    report(path, ("must be %s, got %s"):format(words, rules.given(value)))
    return false
  end
end

local function is_finite(value)
  return type(value) == "number" and value == value and value ~= math.huge and value ~= -math.huge
end

-- Seconds are numbers; for a text with a unit, the hint says which number to write.
local function time(words, accepts)
  return function(report, path, value)
    if is_finite(value) and accepts(value) then return true end
    local meant = type(value) == "string" and units.seconds(value)
    report(path, ("must be %s, got %s%s"):format(words, rules.given(value),
      meant and ("; write %.14g"):format(meant) or ""))
    return false
  end
end

rules.positive_seconds = time("> 0 seconds", function(v) return v >= 1e-9 end)
rules.seconds = time("seconds, a number >= 0", function(v) return v >= 0 end)
rules.any_seconds = time("seconds, a finite number", function() return true end)
rules.flag = expect("true or false", function(v) return type(v) == "boolean" end)
rules.text = expect("a string", function(v)
  return type(v) == "string" and v ~= "" and not v:find("\0", 1, true)
end)
rules.whole = expect("a whole number", function(v) return math.type(v) == "integer" end)
rules.table = function(report, path, value)
  if type(value) == "table" and getmetatable(value) == nil then return true end
  report(path, type(value) == "table" and "must be a plain table, got one with a metatable"
    or "must be a table, got " .. rules.given(value))
  return false
end
rules.descriptor = expect("a descriptor number", function(v)
  return math.type(v) == "integer" and v >= 0 and v <= 0x7fffffff
end)

function rules.count(low, high)
  local words = high and ("a whole number from %d to %d"):format(low, high)
    or ("a whole number >= %d"):format(low)
  return expect(words, function(v)
    return type(v) == "number" and math.tointeger(v) and v >= low and (not high or v <= high)
  end)
end

-- Bytes: a number, or a text such as "64M".
function rules.to_bytes(value)
  return math.type(value) == "integer" and value or units.bytes(tostring(value))
end

function rules.bytes(report, path, value)
  local bytes = (type(value) == "string" or math.type(value) == "integer") and rules.to_bytes(value)
  if bytes and bytes >= 1 << 20 then return true end
  local number, unit = tostring(value):match "^(%d+)%s*([kKmMgG])i?[bB]?$"
  local better = not bytes and number and number .. unit:upper()
  report(path, ("must be a size of at least 1M, e.g. \"64M\", got %s%s"):format(
    rules.given(value), better and better ~= value and ('; write "%s"'):format(better) or ""))
  return false
end

-- One of a list of words.
function rules.word(words)
  return function(report, path, value)
    if lists.contains(words, value) then return true end
    report(path, ("unknown value %s%s"):format(rules.given(value),
      type(value) == "string" and spelling.hint(value, words)
        or "; use one of " .. table.concat(words, ", ")))
    return false
  end
end

-- A name, or a list of names, each checked by a rule.
function rules.names(rule, what)
  return function(report, path, value)
    if type(value) == "string" then return rule(report, path, value) end
    if type(value) ~= "table" or next(value) == nil then
      report(path, ("must be %s or a list, got %s"):format(what,
        type(value) == "table" and "an empty table" or rules.given(value)))
      return false
    end
    return rules.list(rule)(report, path, value)
  end
end

-- Checks a value below a path, which is longer by its key meanwhile.
local function check_below(rule, report, path, key, value)
  local place = #path + 1
  path[place] = key
  local good = rule(report, path, value)
  path[place] = nil
  return good
end

-- A list of values, each checked by a rule, without holes and names.
function rules.list(rule)
  return function(report, path, value)
    if not rules.table(report, path, value) then return false end
    local good = true
    local expected = 1
    for _, key in ipairs(rules.sorted_keys(value)) do
      if key == expected then
        expected = expected + 1
        good = check_below(rule, report, path, key, value[key]) and good
      else
        good = false
        report(rules.join(path, key), math.type(key) == "integer"
          and ("is unreachable, because [%d] is nil"):format(expected)
          or "a list has no names: write { a, b }")
      end
    end
    return good
  end
end

function rules.mode(report, path, value)
  if type(value) ~= "string" or value == "" then
    report(path, "must be the name of a mode, got " .. rules.given(value))
    return false
  end
  for _, known in ipairs { "default", "common" } do
    -- A private mode would have its own name.
    if value ~= known and spelling.nearest(value, { known }, 1) then
      report(path, ("mode %s never runs; did you mean '%s'?")
        :format(quoting.quoted(value, 40), known))
      return false
    end
  end
  return true
end

rules.modes = rules.names(rules.mode, "the name of a mode")

local SIGNALS = {}
for name in ("hup int quit usr1 usr2 term chld cont tstp ttin ttou winch io poll pwr xcpu "
  .. " xfsz prof vtalrm stkflt cld"):gmatch "%S+" do
  SIGNALS[#SIGNALS + 1] = name
end

-- The name of a signal that can be handled, in any spelling.
function rules.signal(report, path, value)
  if type(value) ~= "string" then
    report(path, "must be the name of a signal, got " .. rules.given(value))
    return false
  end
  local word = value:lower():gsub("^sig", "")
  if word:find "^rtm[ia][nx]$" or word:find "^rtmin%+%d+$" or word:find "^rtmax%-%d+$" then
    return true
  end
  if lists.contains(SIGNALS, word) then return true end
  local fatal = " kill stop segv bus fpe ill trap sys abrt iot pipe urg alrm "
  local is_fatal = fatal:find(" " .. word .. " ", 1, true)
  report(path, ("signal %s %s"):format(rules.given(value), is_fatal and "cannot be handled"
    or "is unknown" .. spelling.hint(word, SIGNALS)))
  return false
end

-- Whether a value is written as the name of a function: "module.function".
function rules.is_handler_name(value)
  return type(value) == "string" and value:find "^[%a_][%w_]*%.[%w_.]*[%a_][%w_]*$" ~= nil
end

-- A function, or the name of one.
function rules.handler(report, path, value)
  if type(value) == "function" or rules.is_handler_name(value) then return true end
  report(path, ("must be a function or its name, e.g. \"handlers.beat\", got %s")
    :format(rules.given(value)))
  return false
end

-- A path, extended by a key.
function rules.join(path, key)
  local longer = table.move(path, 1, #path, 1, {})
  longer[#longer + 1] = key
  return longer
end

-- The keys of a table in a fixed order: numbers, strings, then all others.
function rules.sorted_keys(fields)
  local lists = { number = {}, string = {} }
  local others = {}
  for key in next, fields do
    local list = lists[type(key)] or others
    list[#list + 1] = key
  end
  table.sort(lists.number)
  table.sort(lists.string)
  table.sort(others, function(a, b) return tostring(a) < tostring(b) end)
  local keys = lists.number
  table.move(lists.string, 1, #lists.string, #keys + 1, keys)
  return table.move(others, 1, #others, #keys + 1, keys)
end

-- A table with known fields: { name = rule }; `required` lists those that must be present.
function rules.fields(known, required)
  local names = rules.sorted_keys(known)
  return function(report, path, value)
    if not rules.table(report, path, value) then return false end
    local good = true
    for _, key in ipairs(rules.sorted_keys(value)) do
      local rule = known[key]
      if rule then
        good = check_below(rule, report, path, key, value[key]) and good
      else
        good = false
        report(rules.join(path, key), ("unknown field%s"):format(type(key) == "string"
          and spelling.hint(key, names, "the fields are") or "; fields need names here"))
      end
    end
    for _, name in ipairs(required or {}) do
      if value[name] == nil then
        good = false
        report(path, ("'%s' is missing"):format(name))
      end
    end
    return good
  end
end

-- A table of named things, each checked by a rule.
function rules.named(rule, what)
  return function(report, path, value)
    if not rules.table(report, path, value) then return false end
    local good = true
    for _, name in ipairs(rules.sorted_keys(value)) do
      if type(name) == "string" then
        good = check_below(rule, report, path, name, value[name]) and good
      else
        good = false
        report(rules.join(path, name), ("%s needs a name: write name = { … }"):format(what))
      end
    end
    return good
  end
end

return rules
