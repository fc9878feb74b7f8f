-- JSON (RFC 8259), the one codec of consoles, reports, traces, plans and scripts: a strict reader,
-- and a writer for any value. See docs/decisions/0014 and 0034.
local check = require "moonloop.text.options"
local marks = require "moonloop.json.marks"
local read = require "moonloop.json.decode"
local write = require "moonloop.json.encode"

local json = { null = marks.null }

local READING = { null = "any", max_depth = "integer", max_size = "integer" }
local WRITING = { pretty = "boolean", decimals = "integer", is_lenient = "boolean",
  max_depth = "integer" }

-- Raises an error for an option that is out of its range.
local function within(what, options, name, first, last)
  local value = options[name]
  if value and not (value >= first and value <= last) then
    error(("%s: '%s' must be from %d to %d, got %d"):format(what, name, first, last, value), 3)
  end
end

function json.decode(text, options)
  if type(text) ~= "string" then
    error("ml.json.decode: takes a string, got "
      .. (text == nil and "nothing" or "a " .. type(text)), 2)
  end
  options = check("ml.json.decode", options, READING, 2)
  within("ml.json.decode", options, "max_depth", 1, 10000)
  return read(text, options)
end

function json.encode(value, options)
  options = check("ml.json.encode", options, WRITING, 2)
  within("ml.json.encode", options, "decimals", 0, 17)
  local text, problem = write(value, options)
  return text or error("ml.json.encode: " .. problem, 2)
end

function json.object(fields)
  if fields ~= nil and type(fields) ~= "table" then
    error(("ml.json.object: takes a table, got a %s"):format(type(fields)), 2)
  end
  return setmetatable(fields or {}, marks.object)
end

return json
