-- What the values of a configuration may be: a rule looks at one value, and says in words what was
-- expected of it. All mistakes are collected, none is raised.

local rules = {}

-- How far two words are apart, in letters put in, left out, changed or swapped.
local function distance(a, b)
  local rows = {}
  for i = 0, #a do
    rows[i] = { [0] = i }
    for j = 1, #b do
      if i == 0 then
        rows[i][j] = j
      else
        local same = a:byte(i) == b:byte(j)
        local best = math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1,
          rows[i - 1][j - 1] + (same and 0 or 1))
        if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
          best = math.min(best, rows[i - 2][j - 2] + 1)
        end
        rows[i][j] = best
      end
    end
  end
  return rows[#a][#b]
end

-- "; did you mean 'every'?", or the list of all words if none is near.
function rules.suggestion(word, words, what)
  local best, nearest = #word < 3 and 1 or #word < 6 and 2 or 3, nil
  for _, known in ipairs(words) do
    local far = distance(word, known)
    if far <= best and (not nearest or far < best) then best, nearest = far, known end
  end
  if nearest then return ("; did you mean '%s'?"):format(nearest) end
  return ("; %s %s"):format(what or "use one of", table.concat(words, ", "))
end

-- A value in words: itself if it is short, else its type.
function rules.given(value)
  local kind = type(value)
  if kind == "string" then
    return #value <= 40 and ('"%s"'):format(value) or ("a string of %d bytes"):format(#value)
  end
  if kind == "nil" then return "nothing" end
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

rules.positive_seconds = expect("> 0 seconds", function(v) return is_finite(v) and v > 0 end)
rules.seconds = expect("seconds, a number >= 0", function(v) return is_finite(v) and v >= 0 end)
rules.flag = expect("true or false", function(v) return type(v) == "boolean" end)
rules.text = expect("a string", function(v) return type(v) == "string" and v ~= "" end)
rules.whole = expect("a whole number", function(v) return math.type(v) == "integer" end)
rules.table = expect("a table", function(v) return type(v) == "table" end)
rules.descriptor = expect("the number of a descriptor", function(v)
  return math.type(v) == "integer" and v >= 0
end)

function rules.count(low, high)
  local words = high and ("a whole number from %d to %d"):format(low, high)
    or ("a whole number >= %d"):format(low)
  return expect(words, function(v)
    return type(v) == "number" and math.tointeger(v) and v >= low and (not high or v <= high)
  end)
end

local SIZES = { K = 1 << 10, M = 1 << 20, G = 1 << 30 }

-- Bytes: a number, or a text such as "64M".
function rules.to_bytes(value)
  if math.type(value) == "integer" then return value end
  local number, unit = tostring(value):match "^(%d+)([KMG]?)$"
  return number and math.tointeger(tonumber(number) * (SIZES[unit] or 1))
end

rules.bytes = expect("a size of at least 1M, such as \"64M\"", function(v)
  local bytes = (type(v) == "string" or math.type(v) == "integer") and rules.to_bytes(v)
  return bytes and bytes >= 1 << 20
end)

-- One of some words.
function rules.word(words)
  return function(report, path, value)
    for _, known in ipairs(words) do
      if value == known then return true end
    end
    report(path, ("unknown value %s%s"):format(rules.given(value),
      type(value) == "string" and rules.suggestion(value, words)
        or "; use one of " .. table.concat(words, ", ")))
    return false
  end
end

-- A name, or a list of names that each satisfy a rule.
function rules.names(rule, what)
  return function(report, path, value)
    if type(value) == "string" then return rule(report, path, value) end
    if type(value) ~= "table" or #value == 0 then
      report(path, ("must be %s or a list, got %s"):format(what, rules.given(value)))
      return false
    end
    local good = true
    for place, one in ipairs(value) do
      good = rule(report, rules.join(path, place), one) and good
    end
    return good
  end
end

rules.mode = expect("the name of a mode", function(v) return type(v) == "string" and v ~= "" end)
rules.modes = rules.names(rules.mode, "the name of a mode")

local SIGNALS = {}
for name in ("hup int quit usr1 usr2 term pipe alrm chld cont tstp ttin ttou winch urg io poll pwr "
  .. "xcpu xfsz prof vtalrm stkflt cld"):gmatch "%S+" do
  SIGNALS[#SIGNALS + 1] = name
end

-- The name of a signal that can be handled, in any of its spellings.
function rules.signal(report, path, value)
  if type(value) ~= "string" then
    report(path, "must be the name of a signal, got " .. rules.given(value))
    return false
  end
  local word = value:lower():gsub("^sig", "")
  if word:find "^rtm[ia][nx]$" or word:find "^rtmin%+%d+$" or word:find "^rtmax%-%d+$" then
    return true
  end
  for _, known in ipairs(SIGNALS) do
    if word == known then return true end
  end
  local fatal = " kill stop segv bus fpe ill trap sys abrt iot "
  local is_fatal = fatal:find(" " .. word .. " ", 1, true)
  report(path, ("signal %s %s"):format(rules.given(value), is_fatal and "cannot be handled"
    or "is unknown" .. rules.suggestion(word, SIGNALS)))
  return false
end

-- A function, or the name of one: "module.function".
function rules.handler(report, path, value)
  if type(value) == "function" then return true end
  if type(value) == "string" and value:find "^[%a_][%w_]*%.[%w_.]*[%a_][%w_]*$" then return true end
  report(path, ("must be a function or the name of one, such as \"handlers.beat\", got %s")
    :format(rules.given(value)))
  return false
end

-- The keys that lead to a field, one longer.
function rules.join(path, key)
  local longer = table.move(path, 1, #path, 1, {})
  longer[#longer + 1] = key
  return longer
end

-- The keys of a table in a fixed order: numbers first, then words.
function rules.sorted_keys(fields)
  local keys = {}
  for key in pairs(fields) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b)
    if type(a) == type(b) and (type(a) == "number" or type(a) == "string") then return a < b end
    return type(a) == "number" and type(b) ~= "number"
  end)
  return keys
end

-- A table with known fields: { name = rule }; `required` are those that must be there.
function rules.fields(known, required)
  local names = rules.sorted_keys(known)
  return function(report, path, value)
    if not rules.table(report, path, value) then return false end
    local good = true
    for _, key in ipairs(rules.sorted_keys(value)) do
      local rule = known[key]
      if rule then
        good = rule(report, rules.join(path, key), value[key]) and good
      else
        good = false
        report(rules.join(path, key), ("unknown field%s"):format(type(key) == "string"
          and rules.suggestion(key, names, "the fields are") or "; fields have names here"))
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

-- A table of named things that each satisfy a rule.
function rules.named(rule, what)
  return function(report, path, value)
    if not rules.table(report, path, value) then return false end
    local good = true
    for _, name in ipairs(rules.sorted_keys(value)) do
      if type(name) == "string" then
        good = rule(report, rules.join(path, name), value[name]) and good
      else
        good = false
        report(rules.join(path, name), ("%s needs a name: write name = { … }"):format(what))
      end
    end
    return good
  end
end

return rules
