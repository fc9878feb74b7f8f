-- Values as text, over several lines and in a fixed order: for messages and differences.
local quoting = require "moonloop.text.quoting"
local parts = require "moonloop.text.values"

local values = {}

local function scalar(value)
  if type(value) == "string" then return quoting.quoted(value) end
  if math.type(value) == "float" and value == math.floor(value) and value - value == 0 then
    return ("%.1f"):format(value)  -- so that 1 and 1.0 look different
  end
  return parts.tostring(value)
end

local function sorted_keys(t)
  local keys = {}
  for key in next, t do keys[#keys + 1] = key end
  table.sort(keys, parts.before)
  return keys
end

local DEPTH_MAX = 30

local function append(lines, value, indent, prefix, suffix, seen, depth)
  if type(value) ~= "table" then
    lines[#lines + 1] = indent .. prefix .. scalar(value) .. suffix
  elseif seen[value] then
    lines[#lines + 1] = indent .. prefix .. "(the table above, again)" .. suffix
  elseif depth > DEPTH_MAX then
    lines[#lines + 1] = indent .. prefix .. "{...}" .. suffix
  elseif next(value) == nil then
    lines[#lines + 1] = indent .. prefix .. "{}" .. suffix
  else
    seen[value] = true
    lines[#lines + 1] = indent .. prefix .. "{"
    local position = 0
    for _, key in ipairs(sorted_keys(value)) do
      position = position + 1
      local name = key == position and "" or parts.key(key) .. " = "
      append(lines, rawget(value, key), indent .. "  ", name, ",", seen, depth + 1)
    end
    lines[#lines + 1] = indent .. "}" .. suffix
    seen[value] = nil  -- shorten only tables inside themselves
  end
end

--- The lines that show a value.
function values.lines(value)
  local lines = {}
  append(lines, value, "", "", "", {}, 1)
  return lines
end

--- The text of a value, of several lines if it is a table with contents.
function values.format(value)
  return table.concat(values.lines(value), "\n")
end

return values
