-- Checks tables of options.
local host = require "moonloop.text.host"
local spelling = require "moonloop.text.spelling"
local mistake = host.mistake

local function is_of(kind, value)
  return type(value) == kind or kind == "any" or (kind == "integer" and math.type(value) == kind)
end

local function article(kind) return kind == "integer" and "an" or "a" end

-- What is wrong with a value, and a hint; nil if nothing is.
local function problem(expected, value)
  local kind, least, greatest = expected, nil, nil
  if type(expected) == "table" then kind, least, greatest = table.unpack(expected, 1, 3) end
  if not is_of(kind, value) then
    local is_float = kind == "integer" and math.type(value) == "float"
    return ("must be %s %s, got %s"):format(article(kind), kind,
      is_float and tostring(value) or host.given(value)), ""
  elseif kind == "string" and least then
    local words = table.move(expected, 2, #expected, 1, {})
    for _, word in ipairs(words) do
      if word == value then return nil end
    end
    return ("cannot be '%s'"):format(value), spelling.hint(value, words)
  elseif least and not (value >= least and value <= greatest) then
    return ("must be from %s to %s, got %s"):format(least, greatest, value), ""
  end
end

--- Raises an error for a wrong option; returns the options, never nil.
-- @param what begins messages: "ml.fs.read"
-- @param known what each option must be: the name of a type, "integer", or "any"; or a list:
--   "string" and the words that it can be, or a kind of number, the least and the greatest
return function(what, options, known)
  if options == nil then return {} end
  if type(options) ~= "table" then
    mistake(("%s: takes a table of options, got %s"):format(what, host.given(options)))
  end
  for key, value in pairs(options) do
    local expected = known[key]
    if not expected then
      local names = {}
      for option in pairs(known) do
        if type(option) == "string" then names[#names + 1] = option end
      end
      table.sort(names)
      local list = #names == 1 and "the only option is" or "the options are"
      mistake(("%s: unknown option '%s'"):format(what, tostring(key)),
        spelling.hint(tostring(key), names, list))
    end
    if type(value) ~= expected then
      local wrong, hint = problem(expected, value)
      if wrong then mistake(("%s: '%s' %s"):format(what, key, wrong), hint) end
    end
  end
  return options
end
