-- Values as text, over several lines and in an order that does not change: for messages and diffs.
local values = {}

local kind_order = { number = 1, string = 2, boolean = 3 }

--- Numbers by size, then strings, then the rest by their text.
local function before(a, b)
  local kind_a, kind_b = kind_order[type(a)] or 4, kind_order[type(b)] or 4
  if kind_a ~= kind_b then return kind_a < kind_b end
  if kind_a <= 2 then return a < b end
  return tostring(a) < tostring(b)
end

local escapes = { ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ["\\"] = "\\\\", ['"'] = '\\"' }

--- A string in quotes, with what cannot be seen escaped; UTF-8 stays as it is.
function values.quoted(text)
  local utf8_is_valid = utf8.len(text) ~= nil
  local escaped = text:gsub('[%c"\\\127]', function(c)
    return escapes[c] or ("\\x%02x"):format(c:byte())
  end)
  if not utf8_is_valid then
    escaped = escaped:gsub("[\128-\255]", function(c) return ("\\x%02x"):format(c:byte()) end)
  end
  return '"' .. escaped .. '"'
end

--- `tostring` that survives a metamethod which fails or gives no string.
function values.tostring(value)
  local ok, text = pcall(tostring, value)
  if ok then return text end
  return ("(%s whose __tostring fails)"):format(type(value))
end

local function key_text(key)
  if type(key) == "string" then
    if key:match("^[%a_][%w_]*$") then return key end
    return "[" .. values.quoted(key) .. "]"
  end
  return "[" .. values.tostring(key) .. "]"
end

local function scalar(value)
  if type(value) == "string" then return values.quoted(value) end
  if math.type(value) == "float" and value == math.floor(value) and value - value == 0 then
    return ("%.1f"):format(value)  -- so that 1 and 1.0 can be told apart
  end
  return values.tostring(value)
end

local function sorted_keys(t)
  local keys = {}
  for key in next, t do keys[#keys + 1] = key end
  table.sort(keys, before)
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
      local name = key == position and "" or key_text(key) .. " = "
      append(lines, rawget(value, key), indent .. "  ", name, ",", seen, depth + 1)
    end
    lines[#lines + 1] = indent .. "}" .. suffix
    seen[value] = nil  -- only a table inside itself is cut short
  end
end

--- The lines that show a value.
function values.lines(value)
  local lines = {}
  append(lines, value, "", "", "", {}, 1)
  return lines
end

--- The text that shows a value, of several lines if it is a table with something in it.
function values.format(value)
  return table.concat(values.lines(value), "\n")
end

return values
