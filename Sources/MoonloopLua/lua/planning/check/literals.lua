-- Tables that a script passes to `ml.configure`, evaluated alone: what the script computes becomes
-- an unknown value. Nothing of the script is run.
local configuration = require "moonloop.configuration"
local evaluation = require "moonloop.configuration.evaluation"

local literals = {}

-- An unknown value: any operation on it is unknown too.
local unknown = setmetatable({}, { __metatable = "unknown" })
do
  local meta = debug.getmetatable(unknown)
  local function same() return unknown end
  for name in ([[add sub mul div mod pow unm idiv band bor bxor bnot shl shr concat len index call
    ]]):gmatch "%S+" do
    meta["__" .. name] = same
  end
end

local function is_unknown(value)
  if value == unknown then return true end
  if type(value) ~= "table" or getmetatable(value) ~= nil then return false end
  for _, one in next, value do
    if is_unknown(one) then return true end
  end
  return false
end

local KNOWN = { math = math }
local function environment()
  return setmetatable({}, { __index = function(_, name) return KNOWN[name] or unknown end })
end

local HANDLERS = { handler = true, perform = true, read = true, write = true, on_error = true,
  schedule = true, cancel = true }
local function stand_in() end

-- Removes the unknown parts of an item. Returns whether they were only handlers.
local function clean_item(item)
  for key, value in next, item do
    if value == unknown and HANDLERS[key] then
      item[key] = stand_in
    elseif is_unknown(value) then
      return false
    end
  end
  return true
end

-- Removes the unknown parts of a configuration. Returns whether all of it stayed.
local function clean(value)
  local is_whole = true
  for section, one in next, value do
    if one == unknown then
      if section == "on_error" then value[section] = nil else is_whole, value[section] = false end
    elseif section == "timers" or section == "sources" or section == "observers"
      or section == "signals" then
      for name, item in next, type(one) == "table" and one or {} do
        if item == unknown and section == "signals" then
          one[name] = stand_in
        elseif item == unknown or type(item) == "table" and not clean_item(item) then
          is_whole, one[name] = false, nil
        end
      end
    elseif is_unknown(one) then
      is_whole, value[section] = false, nil
    end
  end
  return is_whole
end

-- The tables of a file: { doc, from, to, is_whole } each: the tokens it spans, and whether all that
-- matters in it is known.
function literals.of(file)
  local found = {}
  for _, call in ipairs(file.calls) do
    local from = call.index + 1
    if file.list[from].text == "(" then from = from + 1 end
    local to = call.name == "configure" and file.list[from].text == "{" and file.partner[from]
    if to then
      local first = file.list[from]
      local text = ("\n"):rep(first.line - 1) .. "return "
        .. file.text:sub(first.from, file.list[to].from)
      local chunk = load(text, "@" .. file.path, "t", environment())
      local ok, values
      if chunk then ok, values = evaluation.run(chunk, file.path) end
      if ok and type(values[1]) == "table" and values[1] ~= unknown then
        local is_whole = clean(values[1])
        found[#found + 1] = { from = from, to = to, is_whole = is_whole,
          doc = configuration.document(values[1], file.path, text) }
      end
    end
  end
  return found
end

return literals
