-- What names in a script stand for: the module, its parts or the loop, as far as the text shows it;
-- and their entries, from the reference.
local reference = require "moonloop.reference"
local rules = require "moonloop.configuration.rules"
local lists = require "moonloop.text.lists"

local names = {}

-- Before these an expression is not complete.
local OPERATORS = lists.set ". : ( [ { + - * / % ^ < > ~ & | = and or"

local function goes_on(token)
  return token.kind == "string" or token.kind ~= "end" and OPERATORS[token.text] or false
end

-- Reads `require "moonloop"` at an index. Returns the index after it; nil if it is something else.
local function after_require(list, at)
  if list[at].text ~= "require" or list[at].kind ~= "name" then return nil end
  local width = list[at + 1].text == "(" and 2 or 1
  local name = list[at + width]
  return name.kind == "string" and name.text == "moonloop" and at + 2 * width or nil
end

-- Reads the module or a loop at an index. Returns "ml" or "loop" and the index after it; or nil.
local function read(list, at, known)
  local after = after_require(list, at)
    or list[at].kind == "name" and known[list[at].text] == "ml" and at + 1
  if not after then return nil end
  if list[after].text == "." and list[after + 1].text == "current" and list[after + 2].text == "("
    and list[after + 3].text == ")" then
    return "loop", after + 4
  end
  return "ml", after
end

-- Binds the names of a `local` statement. Returns the index of its first value.
local function bind_locals(list, at, known, bind)
  local variables, index = {}, at + 1
  while list[index].kind == "name" do
    variables[#variables + 1] = list[index].text
    index = index + (list[index + 1].text == "<" and 4 or 1)
    if list[index].text ~= "," then break end
    index = index + 1
  end
  local is_clear, first = list[index].text == "=", index + 1
  for _, variable in ipairs(variables) do
    local kind, after
    if is_clear then
      kind, after = read(list, index + 1, known)
      after = after or index + 2
      if not list[after] or goes_on(list[after]) then kind, is_clear = nil, false end
      is_clear = is_clear and list[after].text == ","
      index = after
    end
    bind(variable, kind or false)
  end
  return first
end

local function bind_unknown(list, from, to, bind)
  for index = from, to do
    if list[index].kind == "name" then bind(list[index].text, false) end
  end
end

-- What each name stands for, "ml" or "loop", if it does so wherever it is bound; otherwise false.
local function bindings_of(file)
  local list, known, open, first_value = file.list, {}, {}, 0
  local function bind(name, kind)
    if known[name] == nil then known[name] = kind end
    if known[name] ~= kind then known[name] = false end
  end
  local function find(text, other, index)
    while list[index].kind ~= "end" and list[index].text ~= text and list[index].text ~= other do
      index = index + 1
    end
    return index
  end
  for index, token in ipairs(list) do
    local partner = file.partner[index]
    if partner and partner > index then open[#open + 1] = index end
    if partner and partner == open[#open] then open[#open] = nil end
    local before = list[index - 1].text
    if token.kind ~= "name" then goto continue end
    if token.text == "local" and list[index + 1].text ~= "function" then
      first_value = bind_locals(list, index, known, bind)
    elseif token.text == "function" then
      local from = find("(", "(", index)
      if before == "local" then bind(list[index + 1].text, false) end
      bind_unknown(list, from, file.partner[from] or from, bind)
    elseif token.text == "for" then
      bind_unknown(list, index + 1, find("in", "=", index) - 1, bind)
    elseif index >= first_value and before ~= "." and before ~= ":" and list[index + 1].text == "="
      and list[index + 2].text ~= "=" and not (open[1] and list[open[#open]].text == "{") then
      local kind, after = read(list, index + 2, known)
      bind(token.text, kind and not goes_on(list[after]) and kind or false)
    end
    ::continue::
  end
  return known
end

-- What a call's function or method belongs to: "ml", "ml.net", "loop", …; nil if it is unknown.
function names.receiver(file, call)
  file.bindings = file.bindings or bindings_of(file)
  local list, at, path = file.list, call.start, nil
  path, at = read(list, at, file.bindings)
  if not path then
    local name = list[call.start]
    if name.kind ~= "name" or file.bindings[name.text] ~= "loop" then return nil end
    path, at = "loop", call.start + 1
  end
  if at == call.index + 3 then return "ml" end  -- ml.current() itself
  while at < call.index - 1 do
    if path:find "^ml" == nil or list[at].text ~= "." or list[at + 1].kind ~= "name" then
      return nil
    end
    path, at = path .. "." .. list[at + 1].text, at + 2
  end
  return at == call.index - 1 and path or nil
end

-- The entries of a receiver, with those that it inherits: { by_name, list }, the list of names
-- sorted; nil if it is no receiver.
local entries_of = setmetatable({}, { __index = function(self, receiver)
  local all, found = reference.all(), {}
  local class = all.receivers[receiver]
  if not class then return nil end
  while class do
    for _, entry in ipairs(class.entries) do found[entry.name] = found[entry.name] or entry end
    class = all.classes[class.parent]
  end
  for other in pairs(all.receivers) do
    local whole, part = other:match "^(.*)%.([%w_]+)$"
    if whole == receiver then found[part] = found[part] or {} end
  end
  self[receiver] = { by_name = found, list = rules.sorted_keys(found) }
  return self[receiver]
end })

-- The entry that a call calls. If there is none: nil, the receiver, its entries, and the name that
-- it does not have. If that is unknown, nothing.
function names.entry(file, call)
  local receiver, name = names.receiver(file, call), call.name
  if receiver and not entries_of[receiver] then
    receiver, name = receiver:match "^(.*)%.(.*)$"
    if not entries_of[receiver] or entries_of[receiver].by_name[name] then return nil end
  end
  if not receiver then return nil end
  local entries = entries_of[receiver]
  return entries.by_name[name], receiver, entries, name
end

-- An entry of a receiver as it is written in a script.
function names.written(receiver, name)
  return receiver .. (receiver == "loop" and ":" or ".") .. name
end

-- The class of what a call returns; nil if that is no handle.
function names.class_of(file, call)
  local entry = names.entry(file, call)
  local result = entry and entry.returns and entry.returns[1]
  return result and reference.all().classes[result.type:match "^moonloop%.[%w.]+"]
end

-- A method of a class, its own or inherited.
function names.method(class, name)
  while class do
    for _, entry in ipairs(class.entries) do
      if entry.name == name and entry.form == "method" then return entry end
    end
    class = reference.all().classes[class.parent]
  end
end

-- Whether a call makes an item; and whether it has to be added, since `ml` makes it, not a loop.
function names.makes_item(file, call)
  local _, receiver = names.entry(file, call)
  local all, class = reference.all(), names.class_of(file, call)
  while class and class.type ~= "moonloop.Item" do class = all.classes[class.parent] end
  return class ~= nil, receiver == "ml" and entries_of.loop.by_name[call.name] ~= nil
end

-- The options of a call that it does not have: { name, known, line } each.
function names.unknown_options(file, call, entry)
  local found, list, open = {}, file.list, call.index + 1
  local arguments = list[open].text == "(" and list[open].kind == "symbol" and file:split(open)
    or { { from = open, to = file.partner[open] } }
  for place, argument in ipairs(arguments) do
    local parameter = entry.parameters and entry.parameters[place]
    local fields = parameter and reference.fields(reference.all(), parameter)
    local last = list[argument.from].text == "{" and file.partner[argument.from]
    if fields and last and last == argument.to then
      local known, is_known = {}, {}
      for _, field in ipairs(fields) do
        is_known[field.name] = true
        if field.name:find "^%a" then known[#known + 1] = field.name end
      end
      for _, one in ipairs(file:split(argument.from)) do
        if one.key and not is_known[one.key] then
          found[#found + 1] = { name = one.key, known = known, line = list[one.from].line }
        end
      end
    end
  end
  return found
end

-- Whether a name is that of an entry that waits, of any class.
local waiting
function names.waits(name)
  if not waiting then
    waiting = { run = true }
    for _, class in ipairs(reference.all().classes) do
      for _, entry in ipairs(class.entries) do
        if entry.yields then waiting[entry.name] = true end
      end
    end
  end
  return waiting[name] or false
end

return names
