-- The rule for literals that a call refuses: a number for a function, a word that is none of those
-- it takes. What an entry takes is in the reference.
local names = require "moonloop.planning.check.names"
local reference = require "moonloop.reference"
local spelling = require "moonloop.text.spelling"

local values = {}

-- Lua's functions that are passed as handlers.
local FUNCTIONS = { print = true, error = true, assert = true }

-- What an expression is: "number", "string", "boolean", "function" or "table"; nil if it is
-- computed.
local function kind_of(file, entry)
  local token, is_one = file.list[entry.from], entry.from == entry.to
  if is_one and token.kind ~= "name" then return token.kind ~= "symbol" and token.kind or nil end
  if is_one and (token.text == "true" or token.text == "false") then return "boolean" end
  if is_one then
    return FUNCTIONS[token.text] and file.bindings[token.text] == nil and "function" or nil
  end
  if file.partner[entry.from] ~= entry.to then return nil end
  return token.text == "function" and "function" or token.text == "{" and "table" or nil
end

-- The alternatives of a type: "a|b" outside of brackets and quotes.
local function alternatives(text)
  local parts, depth, first, quoted = {}, 0, 1, false
  for at = 1, #text do
    local c = text:sub(at, at)
    if c == '"' then quoted = not quoted end
    depth = depth + (c:find "[%(%[{<]" and 1 or c:find "[%)%]}>]" and -1 or 0)
    if c == "|" and depth == 0 and not quoted then
      parts[#parts + 1], first = text:sub(first, at - 1), at + 1
    end
  end
  parts[#parts + 1] = text:sub(first)
  return parts
end

local PRIMITIVES = { string = "string", number = "number", integer = "number", boolean = "boolean",
  ["true"] = "boolean", ["false"] = "boolean", ["function"] = "function", table = "table" }

-- Adds to `takes` the kinds that a type takes, the words that it takes, and the types of the
-- elements of its lists; or that it `takes.all`.
local function add(takes, text)
  for _, part in ipairs(alternatives(text)) do
    part = part:match "^%((.*)%)%??$" or part:gsub("%?$", "")
    local list, all = part:match "^(.*)%[%]$", reference.all()
    local word = part:match '^"([^"]*)"$'
    if word then
      takes.string = takes.string or "word"
      takes.words[#takes.words + 1] = word
    elseif list then
      takes.table = true
      takes.elements[#takes.elements + 1] = list
    elseif PRIMITIVES[part] then
      takes[PRIMITIVES[part]] = true
    elseif part:find "^fun%(" or part:find "^async fun%(" then
      takes["function"] = true
    elseif part:find "^table<" or part:find "^{" or all.classes[part] then
      takes.table = true
    elseif part:find "[|%[(]" then
      add(takes, part)
    elseif part ~= "nil" then
      local alias
      for _, one in ipairs(all.aliases) do alias = one.alias == part and one or alias end
      if alias then add(takes, alias.type) else takes.all = true end
    end
  end
  return takes
end

-- What is wrong with an expression as a value of a type; nil if nothing is, or if it is computed.
local function problem(file, entry, text)
  local kind = kind_of(file, entry)
  local takes = add({ words = {}, elements = {} }, text)
  if not kind or takes.all then return nil end
  local value = file:literal(entry)
  if kind == "string" and takes.string == "word" then
    for _, word in ipairs(takes.words) do
      if word == value then return nil end
    end
    return ('cannot be "%s"%s'):format(value, spelling.hint(value, takes.words, "it can be"))
  elseif kind == "table" and #takes.elements > 0 then
    for _, one in ipairs(file:split(entry.from)) do
      local wrong = not one.key and problem(file, one, table.concat(takes.elements, "|"))
      if wrong then return wrong end
    end
    return nil
  end
  -- Lua reads numbers in strings, and makes strings of numbers.
  if takes[kind] or kind == "number" and takes.string or kind == "string" and tonumber(value) then
    return nil
  end
  return "cannot be a " .. kind
end

-- The arguments of a call, in order; and whether it has a table alone, without brackets.
local function arguments_of(file, call)
  local open = file.list[call.index + 1]
  if open.kind == "symbol" and open.text == "(" then return file:split(call.index + 1) end
  return { { from = call.index + 1, to = file.partner[call.index + 1] or call.index + 1 } }
end

-- Calls `visit(what, entry, type)` for each argument and option of a call that has a type. The
-- elements of a table beside other arguments are a list, as in loop:signal({ "int", "term" }, f).
local function each_value(file, call, entry, visit)
  local arguments = arguments_of(file, call)
  for place, argument in ipairs(arguments) do
    local parameter = entry.parameters[place]
    if not parameter or parameter.name == "..." then return end
    local fields = reference.fields(reference.all(), parameter)
    if kind_of(file, argument) ~= "table" or not fields then
      visit("'" .. parameter.name .. "'", argument, parameter.type)
    else
      local types, count = {}, 0
      for _, field in ipairs(fields) do types[field.name] = field.type end
      for _, one in ipairs(file:split(argument.from)) do
        count = count + (one.key and 0 or 1)
        local kind = types[one.key or #arguments == 1 and ("[%d]"):format(count)]
        if kind then
          visit(one.key and "'" .. one.key .. "'" or "element " .. count, one, kind)
        end
      end
    end
  end
end

--- Applies the rule to a file.
function values.check(file, report)
  for _, call in ipairs(file.calls) do
    local entry, receiver = names.entry(file, call)
    if entry and entry.parameters and #entry.overloads == 0
      and (entry.form == "method") == call.is_method then
      each_value(file, call, entry, function(what, value, kind)
        local wrong = problem(file, value, kind)
        if not wrong then return end
        report("wrong-value", file.list[value.from].line,
          ("%s: %s %s"):format(names.written(receiver, call.name), what, wrong))
      end)
    end
  end
end

return values
