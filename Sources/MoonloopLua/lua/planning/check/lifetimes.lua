-- The rules for what a script makes and loses: items that are never added, and items that are
-- closed before the loop runs.
local names = require "moonloop.planning.check.names"
local lists = require "moonloop.text.lists"

local lifetimes = {}

-- Methods that have no effect on an item in no mode. Others may use it without a loop.
local IDLE = { signal = true, invalidate = true, is_valid = true, keep_alive = true }

-- Whether a local, declared at an index, is only ever used to call such methods.
local function stays(file, name, declared)
  local list = file.list
  for index, token in ipairs(list) do
    local before, after = list[index - 1], list[index + 1]
    if token.kind == "name" and token.text == name and index ~= declared
      and before.text ~= "." and before.text ~= ":" then
      local is_key = after.text == "=" and list[index + 2].text ~= "="
      local is_idle = after.text == ":" and IDLE[list[index + 2].text]
      if before.text == "local" or not is_key and not is_idle then return false end
    end
  end
  return true
end

-- The name and place of the local variable that a call's result is assigned to, and only it.
local function variable_of(file, call)
  local list, at = file.list, call.start - 1
  if list[at].text ~= "=" or list[call.last + 1].text == "," then return nil end
  at = at - 1
  if list[at].text == ">" then at = at - 3 end
  if list[at].kind ~= "name" or list[at - 1].text ~= "local" then return nil end
  return list[at].text, at
end

-- Items that `ml` makes, which are in no mode until they are added.
function lifetimes.never_added(file, report)
  for _, call in ipairs(file.calls) do
    local is_item, is_apart = names.makes_item(file, call)
    -- A signal is caught from the moment on at which it is made.
    if is_item and is_apart and call.name ~= "signal" and file.list[call.last + 1].text ~= ":" then
      local name, declared = variable_of(file, call)
      if file:is_statement(call) or name and stays(file, name, declared) then
        local what = name and ("the %s '%s'"):format(call.name, name) or "this " .. call.name
        report("never-added", call.line, what .. " is in no mode: nothing adds it to a loop")
      end
    end
  end
end

-- Functions of Lua that do not wait for the loop, its libraries, and words before a bracket.
local QUICK = lists.set("print assert error tostring tonumber type pairs ipairs select next "
  .. "setmetatable getmetatable rawget rawset rawequal rawlen collectgarbage")
local LIBRARIES = { string = true, table = true, math = true, os = true, io = true, utf8 = true }
local WORDS = lists.set("and or not if elseif while until return in then do else end local repeat "
  .. "for function goto break")

-- Whether the main chunk might wait, or run the loop, after an index.
local function may_wait(file, from)
  for _, call in ipairs(file.calls) do
    if call.index > from and not file:function_at(call.index) then
      local is_known = names.entry(file, call) or LIBRARIES[call.receiver]
      if not is_known or names.waits(call.name) then return true end
    end
  end
  local list = file.list
  for index = from + 1, #list - 1 do
    local token, before, after = list[index], list[index - 1], list[index + 1]
    local is_call = token.kind == "name" and not WORDS[token.text] and before.text ~= "."
      and before.text ~= ":" and before.text ~= "function"
      and (after.kind == "string" or after.kind == "symbol" and after.text:find "[({]")
    if is_call and not QUICK[token.text] and not file:function_at(index) then return true end
  end
  return false
end

-- Whether an index is in the main chunk itself, outside of all blocks.
local function is_outermost(file, index)
  for first, last in pairs(file.partner) do
    if first < index and index < last and file.list[first].kind == "name" then return false end
  end
  return true
end

-- Items in `<close>` variables of the main chunk, which ends before the loop runs.
function lifetimes.closed_at_once(file, report)
  if file:is_module() then return end
  for _, call in ipairs(file.calls) do
    local list, at = file.list, call.start - 1
    if list[at].text == "(" and list[at - 1].text == "assert" then at = at - 2 end
    if list[at].text == "=" and list[at - 1].text == ">" and list[at - 2].text == "close"
      and list[at - 5].text == "local" and is_outermost(file, at) then
      if names.makes_item(file, call) and not may_wait(file, call.last) then
        report("closed-at-once", call.line, ("'%s' is closed as the script ends, before its loop "
          .. "runs"):format(list[at - 4].text))
      end
    end
  end
end

return lifetimes
