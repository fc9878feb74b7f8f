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

local IS_PLAIN = { boolean = true, number = true, string = true, ["nil"] = true }

--- Shows what is no table; nothing that differs from run to run.
function values.without_address(value)
  return IS_PLAIN[type(value)] and scalar(value) or ("(a %s)"):format(type(value))
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
    lines[#lines + 1] = indent .. prefix .. lines.show(value) .. suffix
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
      local name = key == position and "" or lines.key(key) .. " = "
      append(lines, rawget(value, key), indent .. "  ", name, ",", seen, depth + 1)
    end
    lines[#lines + 1] = indent .. "}" .. suffix
    seen[value] = nil  -- shorten only tables inside themselves
  end
end

--- The lines that show a value.
-- @param show what shows values that are no tables, if not as `tostring` does
function values.lines(value, show)
  local function key(name)
    local is_plain = not show or IS_PLAIN[type(name)]
    return is_plain and parts.key(name) or ("[%s]"):format(show(name))
  end
  local lines = { show = show or scalar, key = key }
  append(lines, value, "", "", "", {}, 1)
  return lines
end

--- The text of a value, of several lines if it is a table with contents.
-- @param show as for `lines`
function values.format(value, show)
  return table.concat(values.lines(value, show), "\n")
end

return values
