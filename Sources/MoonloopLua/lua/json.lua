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

function json.decode(text, options)
  if type(text) ~= "string" then
    error(("json.decode: takes a string, got a %s"):format(type(text)), 2)
  end
  return read(text, check("json.decode", options, READING, 2))
end

function json.encode(value, options)
  local text, problem = write(value, check("json.encode", options, WRITING, 2))
  return text or error("json.encode: " .. problem, 2)
end

function json.object(fields)
  if fields ~= nil and type(fields) ~= "table" then
    error(("json.object: takes a table, got a %s"):format(type(fields)), 2)
  end
  return setmetatable(fields or {}, marks.object)
end

return json
