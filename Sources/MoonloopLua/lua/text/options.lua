-- Checks tables of options.
local spelling = require "moonloop.text.spelling"

local function is_of(kind, value)
  return type(value) == kind or kind == "any" or (kind == "integer" and math.type(value) == kind)
end

local function article(kind) return kind == "integer" and "an" or "a" end

--- Raises an error for a wrong option; returns the options, never nil.
-- @param what begins messages: "ml.fs.read"
-- @param known what each option must be: the name of a type, "integer", or "any"
-- @param level as for `error`; 2 is the caller of this
return function(what, options, known, level)
  if options == nil then return {} end
  if type(options) ~= "table" then
    error(("%s: takes a table of options, got a %s"):format(what, type(options)), level + 1)
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
      error(("%s: unknown option '%s'%s"):format(what, tostring(key),
        spelling.hint(tostring(key), names, list)), level + 1)
    end
    if not is_of(expected, value) then
      error(("%s: '%s' must be %s %s, got %s"):format(what, key, article(expected), expected,
        type(value) == "number" and tostring(value) or "a " .. type(value)), level + 1)
    end
  end
  return options
end
