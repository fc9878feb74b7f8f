-- Checks of arguments as luv makes them: what is wrong is raised at the line that called luv.
local arguments = { uv = {} }  -- the module, whose functions have names

-- The name of a function of ours that was passed to `pcall`.
local function name_of(fn)
  for name, value in pairs(arguments.uv) do if value == fn then return name end end
  return "?"
end

local function is_ours(level)
  local info = debug.getinfo(level + 1, "S")
  return info ~= nil and info.source:find "^@moonloop/compat%.uv" ~= nil
end

-- Raises like the C library, at the line that called the uv function.
local function bad(index, text)
  local level = 3
  while is_ours(level + 1) do level = level + 1 end
  local called = debug.getinfo(level, "nf")
  local name = called.name or name_of(called.func)
  -- As in the C library, the object of a method does not count.
  if called.namewhat == "method" and index > 1 then index = index - 1 end
  error(("bad argument #%d to '%s' (%s)"):format(index, name, text), level + 1)
end
arguments.bad = bad

function arguments.check(ok, index, text)
  if not ok then bad(index, text) end
end

function arguments.integer(value, index)
  local number = math.tointeger(tonumber(value))
  if number then return number end
  bad(index, type(value) == "number" and "number has no integer representation"
    or ("number expected, got %s"):format(value == nil and "no value" or type(value)))
end

function arguments.text(value, index)
  if type(value) == "string" then return value end
  if type(value) == "number" then return tostring(value) end
  bad(index, ("string expected, got %s"):format(value == nil and "no value" or type(value)))
end

function arguments.boolean(value, index)
  if type(value) == "boolean" then return value end
  bad(index, ("boolean expected, got %s"):format(value == nil and "no value" or type(value)))
end

local function is_callable(value)
  if type(value) == "function" then return true end
  local meta = getmetatable(value)
  return type(meta) == "table" and type(meta.__call) == "function"
end

-- A required callback; with `may_lack` it may be nil.
function arguments.callback(value, index, may_lack)
  if is_callable(value) or (may_lack and value == nil) then return value end
  bad(index, "function or callable table expected, got " .. type(value))
end

-- One of a list of words.
function arguments.word(value, index, words, default)
  if value == nil then value = default end
  for place, word in ipairs(words) do
    if word == value then return word, place - 1 end
  end
  bad(index, ("invalid option '%s'"):format(tostring(value)))
end

-- The text to write: a string, or a list of strings.
function arguments.bytes(value, index)
  if type(value) == "string" then return value end
  if type(value) == "number" then return tostring(value) end
  if type(value) == "table" then
    for place, part in ipairs(value) do
      if type(part) ~= "string" and type(part) ~= "number" then
        local text = "expected table of strings, found %s in the table at %d"
        bad(index, text:format(type(part), place))
      end
    end
    return table.concat(value)
  end
  bad(index, "data must be string or table of strings")
end

return arguments
