-- The rules for slips in calls, each of which raises an error when the script gets there: a dot for
-- a colon, a call in place of a function, a yield that nothing resumes.
local names = require "moonloop.planning.check.names"
local source = require "moonloop.planning.check.source"
local lists = require "moonloop.text.lists"

local slips = {}

-- The class of the handle that a handler gets first, by the index of the parameter.
local function parameters_of(file)
  local found = {}
  for _, fn in ipairs(file.functions) do
    local open = fn.from + 1
    while file.list[open].kind == "name" or file.list[open].text == "." do open = open + 1 end
    if fn.call and fn.handler_of ~= "perform" and file.list[open].text == "(" then
      found[open + 1] = names.class_of(file, fn.call)
    end
  end
  return found
end

-- The class of each variable that holds a handle wherever it is bound; otherwise false.
local function handles_of(file)
  local list, known, made = file.list, {}, parameters_of(file)
  for _, call in ipairs(file.calls) do
    local at, after = call.start - 1, list[call.last + 1].text
    if list[at].text == "=" and after ~= "." and after ~= ":" and after ~= "," then
      at = list[at - 1].text == ">" and at - 4 or at - 1
      if list[at].kind == "name" and list[at - 1].text ~= "," and list[at - 1].text ~= "." then
        made[at] = names.class_of(file, call)
      end
    end
  end
  local function bind(index)
    local name, class = list[index].text, made[index] or false
    if known[name] == nil then known[name] = class end
    if known[name] ~= class then known[name] = false end
  end
  for index, token in ipairs(list) do
    local before, after = list[index - 1].text, list[index + 1]
    if token.kind ~= "name" then
      goto continue
    elseif token.text == "function" then
      local open = index + 1
      while list[open].kind == "name" or list[open].text == "." or list[open].text == ":" do
        open = open + 1
      end
      for place = open + 1, (file.partner[open] or open) - 1 do
        if list[place].kind == "name" then bind(place) end
      end
    elseif before == "for" or before == "local" and token.text ~= "function"
      or before == "," and after and (after.text == "in" or after.text == "=")
      or after and after.text == "=" and list[index + 2].text ~= "=" and before ~= "." then
      bind(index)
    end
    ::continue::
  end
  return known
end

-- The method of a handle that is called, with a dot or a colon; nil if that is unknown.
local function method_of(file, call, handles)
  local entry, receiver = names.entry(file, call)
  if entry then return receiver == "loop" and entry.form == "method" and entry or nil end
  local class = call.index == call.start + 2 and handles[file.list[call.start].text]
  return class and names.method(class, call.name) or nil
end

local function dots(file, report, handles)
  for _, call in ipairs(file.calls) do
    local receiver = call.receiver == "()" and "loop" or call.receiver
    local first = call.items[1]
    local passes = first and first.from == first.to and file.list[first.from].text == receiver
    if not call.is_method and not passes and method_of(file, call, handles) then
      report("dot-for-colon", call.line, ("%s.%s is called with a dot: write %s:%s"):format(
        receiver, call.name, receiver, call.name))
    end
  end
end

-- Functions of Lua whose results are no functions, and libraries of such.
local PLAIN = lists.set "print error tostring tonumber type collectgarbage"
local PLAIN_LIBRARIES = { string = true, math = true, os = true, io = true, table = true }

-- Whether a function returns nothing.
local function returns_nothing(file, fn)
  for index = fn.from + 1, fn.to - 1 do
    local token = file.list[index]
    if token.kind == "name" and token.text == "return" and file:function_at(index) == fn then
      return false
    end
  end
  return true
end

-- Whether the result of a call of a name is certainly no function.
local function is_plain(file, name)
  local library = name:match "^(%a+)%.%a+$"
  if PLAIN[name] or PLAIN_LIBRARIES[library] then return true end
  local found
  for _, fn in ipairs(file.functions) do
    if fn.name == name then found = found == nil and returns_nothing(file, fn) end
  end
  return found or false
end

-- The name of what an entry calls, if the call is all of it and its result is no function.
local function called(file, entry, handles)
  local list = file.list
  local open = list[entry.to].kind == "string" and entry.to or file.partner[entry.to]
  if not open or open <= entry.from or file:chain_start(entry.to) ~= entry.from then return nil end
  local words = {}
  for index = entry.from, open - 1 do words[#words + 1] = list[index].text end
  local name = table.concat(words)
  if not name:find "^[%a_][%w_.:]*$" or words[1] == "function" then return nil end
  if is_plain(file, name) then return name end
  for _, call in ipairs(file.calls) do
    local made = call.index == open - 1
      and (method_of(file, call, handles) or names.entry(file, call))
    local result = made and made.returns and made.returns[1]
    if made and not (result and result.type:find "^fun") then return name end
  end
end

-- The makers whose handler is their second element or argument.
local SECOND = { after = true, every = true, at = true, cron = true, signal = true, on = true }

local function calls_for_functions(file, report, handles)
  for _, call in ipairs(file.calls) do
    local receiver = source.maker(call) and names.receiver(file, call)
    if receiver == "loop" or receiver == "ml" then
      local first = call.items[1]
      local is_table = first and file.list[first.from].text == "{"
      local entry = call.fields.handler or call.fields.perform
        or call.items[(SECOND[call.name] or is_table) and 2 or 1]
      local name = entry and called(file, entry, handles)
      if name then
        report("called-at-once", call.line,
          ("%s is called here: its result would be the handler"):format(name))
      end
    end
  end
end

local function plain_yields(file, report)
  for _, call in ipairs(file.calls) do
    local fn = file:function_at(call.index)
    if call.name == "yield" and call.receiver == "coroutine" and not call.is_method
      and (fn and fn.handler_of or not fn and not file:is_module()) then
      report("plain-yield", call.line,
        ("%s calls coroutine.yield"):format(fn and "a handler" or "the main chunk"))
    end
  end
end

--- Applies the rules to a file.
function slips.check(file, report)
  local handles = handles_of(file)
  dots(file, report, handles)
  calls_for_functions(file, report, handles)
  plain_yields(file, report)
end

return slips
