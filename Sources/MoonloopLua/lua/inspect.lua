-- ml.inspect: readable text for values, tables with their contents in order, cycles marked. The
-- prompt shows values by it.
local check = require "moonloop.text.options"
local layout = require "moonloop.text.layout"
local ml = require "moonloop"
local quoting = require "moonloop.text.quoting"
local values = require "moonloop.text.values"

local OPTIONS = { depth = { "integer", 0, 200 }, items = "integer", width = "integer",
  one_line = "boolean" }
local SHORT = 20
-- Fields of the module that are made when they are first asked for.
local MADE_LATER = { "fs", "http", "json", "log" }
-- Elements in one text: tables that hold each other many times would else make it endless.
local TOTAL = 10000

-- Safe libraries have neither.
local getinfo, metatable_of = debug.getinfo, debug.getmetatable or getmetatable

local function function_text(value)
  if not getinfo then return values.tostring(value) end
  local info = getinfo(value, "S")
  local place = info.what == "C" and "built in"
    or ("%s:%d"):format(info.short_src, info.linedefined)
  return ("function (%s)"):format(place)
end

local function atom(value)
  local kind = type(value)
  if kind == "string" then return quoting.quoted(value) end
  if kind == "function" then return function_text(value) end
  return values.tostring(value)
end

local render

-- The parts of a table: list elements first, then fields in order.
local function parts_of(value, state, depth)
  local parts, count, listed = {}, 0, 0
  while rawget(value, listed + 1) ~= nil and listed < state.items do
    listed = listed + 1
    parts[listed] = render(rawget(value, listed), state, depth + 1)
  end
  local keys = {}
  if value == ml then
    for _, name in ipairs(MADE_LATER) do pcall(function() return ml[name] end) end
  end
  for key in next, value do
    count = count + 1
    local is_listed = math.type(key) == "integer" and key >= 1 and key <= listed
    if not is_listed then keys[#keys + 1] = key end
  end
  table.sort(keys, values.before)
  for _, key in ipairs(keys) do
    if #parts >= state.items then break end
    parts[#parts + 1] = values.key(key) .. " = " .. render(rawget(value, key), state, depth + 1)
  end
  if count > #parts then parts[#parts + 1] = ("... %d more"):format(count - #parts) end
  return parts
end

-- Short parts share lines; each long one gets its own.
local function lines_of(parts, width)
  local lines, is_open = {}, false
  for place, part in ipairs(parts) do
    local is_short = #part <= SHORT and not part:find("\n", 1, true)
    local words = place < #parts and part .. "," or part
    if is_short and is_open and #lines[#lines] + 1 + #words <= width then
      lines[#lines] = lines[#lines] .. " " .. words
    else
      lines[#lines + 1] = words
    end
    is_open = is_short
  end
  return lines
end

local function table_text(value, state, depth)
  local meta = metatable_of(value)
  if type(meta) == "table" and (rawget(meta, "__tostring") or rawget(meta, "__name")) then
    return atom(value)
  end
  if state.path[value] then return "(this table again)" end
  if depth >= state.depth or state.left <= 0 then return next(value) == nil and "{}" or "{...}" end
  state.path[value] = true
  local parts = parts_of(value, state, depth)
  state.path[value] = nil
  if #parts == 0 then return "{}" end
  local line = "{ " .. table.concat(parts, ", ") .. " }"
  local indent = ("  "):rep(depth)
  local is_flat = not line:find("\n", 1, true)
  if is_flat and (state.one_line or #line + #indent <= state.width) then return line end
  local inner = ("  "):rep(depth + 1)
  local lines = lines_of(parts, state.width - #inner)
  return "{\n" .. inner .. table.concat(lines, "\n" .. inner) .. "\n" .. indent .. "}"
end

function render(value, state, depth)
  state.left = state.left - 1
  if type(value) == "table" then return table_text(value, state, depth) end
  return atom(value)
end

-- A text of several lines in Lua's long brackets; nil if they cannot hold it.
local function lines_text(value)
  if type(value) ~= "string" or not value:find "\n." or not utf8.len(value) then return nil end
  if value:gsub("[\n\t]", ""):find "%c" then return nil end
  local level = ""
  while value:find("]" .. level .. "]", 1, true) or value:find("]" .. level .. "$") do
    level = level .. "="
  end
  return ("[%s[\n%s]%s]"):format(level, value, level)
end

-- On one line, cut if it is long; a module is its name.
local function brief(value, state)
  for name, module in next, type(value) == "table" and package.loaded or {} do
    if module == value then return ("module '%s'"):format(name) end
  end
  local words = render(value, state, 0)
  if layout.width(words) <= state.width then return words end
  return layout.cut(words, math.max(0, state.width - 3)) .. "..."
end

return function(value, options)
  options = check("ml.inspect", options, OPTIONS)
  local one_line = options.one_line
  local state = { depth = options.depth or one_line and 2 or 5, items = options.items or 100,
    width = options.width or 78, one_line = one_line, path = {}, left = TOTAL }
  if one_line then return brief(value, state) end
  return lines_text(value) or render(value, state, 0)
end
