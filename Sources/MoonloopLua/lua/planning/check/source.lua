-- What a script's text shows without running it: tokens, functions, method calls, and which
-- functions are handlers. There is no guessing: what is computed is unknown.
local sources = require "moonloop.configuration.sources"
local tokens = require "moonloop.configuration.tokens"
local lists = require "moonloop.text.lists"

local source = {}

local OPENERS = { ["function"] = true, ["do"] = true, ["if"] = true, ["repeat"] = true }
local CLOSERS = { ["end"] = true, ["until"] = true }
local PAIRS = { ["("] = true, ["{"] = true, ["["] = true }
local ENDS = { [")"] = true, ["}"] = true, ["]"] = true }
-- After these an expression continues, so that a call there is not a statement.
local GOES_ON = lists.set "= , ( { [ + - * / % ^ # < > ~ & | . : return and or not in"

-- The makers that call their handlers again and again, and those that call them once.
local REPEATING = sources.by_method "method"
for name in ("every observer on"):gmatch "%S+" do REPEATING[name] = name end
local ONCE = { after = true, at = true, perform = true, task = true }
local HANDLER_KEYS = { handler = true, perform = true, read = true, write = true }

local Source = {}
Source.__index = Source

-- What stands in front of the first token, so that every token has one before it.
local START = { kind = "start", text = "", line = 1 }
local before_all = { __index = function(_, index)
  return math.type(index) == "integer" and index < 1 and START or nil
end }

local function is_symbol(token, text) return token.kind == "symbol" and token.text == text end

-- Finds the partner of each bracket and of each word that opens a block.
local function match_pairs(list)
  local partner, open = {}, {}
  for index, token in ipairs(list) do
    local opens = token.kind == "symbol" and PAIRS[token.text]
      or token.kind == "name" and OPENERS[token.text]
    local closes = token.kind == "symbol" and ENDS[token.text]
      or token.kind == "name" and CLOSERS[token.text]
    if opens then
      open[#open + 1] = index
    elseif closes then
      local first = table.remove(open)
      if first then partner[first], partner[index] = index, first end
    end
  end
  return partner
end

-- Splits the text between two brackets at its commas: { key, from, to } each.
function Source:split(open)
  local entries, index, last = {}, open + 1, self.partner[open] or #self.list
  while index < last do
    local from = index
    while index < last do
      local token = self.list[index]
      if token.kind == "symbol" and token.text:find "[,;]" then break end
      index = math.max(index, self.partner[index] or index) + 1
    end
    local key
    if self.list[from].kind == "name" and is_symbol(self.list[from + 1], "=")
      and not is_symbol(self.list[from + 2], "=") then
      key, from = self.list[from].text, from + 2
    end
    entries[#entries + 1] = { key = key, from = from, to = index - 1 }
    index = index + 1
  end
  return entries
end

-- The value of an entry that is one number or string, or a list of strings; otherwise nil.
function Source:literal(entry)
  if not entry then return nil end
  local token = self.list[entry.from]
  if entry.from == entry.to then
    if token.kind == "number" then return tonumber(token.text) end
    return token.kind == "string" and token.text or nil
  end
  if not is_symbol(token, "{") or self.partner[entry.from] ~= entry.to then return nil end
  local values = {}
  for place, one in ipairs(self:split(entry.from)) do
    local value = not one.key and self:literal(one)
    if type(value) ~= "string" then return nil end
    values[place] = value
  end
  return values
end

-- The mode of a call of `run`: its name, "default" if it is left out; nil if it is computed.
function Source:run_mode(call)
  local entry = call.fields.mode
  if not call.is_table then entry = call.items[1] end
  if not entry then return "default" end
  local mode = self:literal(entry)
  return type(mode) == "string" and mode or nil
end

-- The beginning of the chain of names and calls that ends before an index.
function Source:chain_start(index)
  while index > 0 do
    local token = self.list[index]
    if token.kind == "symbol" and ENDS[token.text] and self.partner[index] then
      index = self.partner[index] - 1
    elseif token.kind == "string" then
      index = index - 1
    elseif token.kind == "name" then
      local before = self.list[index - 1]
      if not is_symbol(before, ".") and not is_symbol(before, ":") then return index end
      index = index - 2
    else
      return index + 1
    end
  end
  return 1
end

-- One call of a method, or of a function in a table: x:name(…), x.name { … }.
local function read_call(self, index)
  local list = self.list
  local open = index + 1
  local argument = list[open]
  local is_bare = argument.kind == "string" or is_symbol(argument, "{")
  if not is_bare and not is_symbol(argument, "(") then return nil end
  local call = { name = list[index].text, index = index, line = list[index].line,
    is_method = list[index - 1].text == ":", last = self.partner[open] or open, fields = {},
    items = {} }
  call.start = self:chain_start(index)
  local receiver = list[index - 2]
  call.receiver = receiver and receiver.kind == "name" and receiver.text
    or receiver and receiver.text == ")" and "()" or ""
  local inner = is_symbol(argument, "{") and open
  if is_symbol(argument, "(") then
    call.items = self:split(open)
    local first = call.items[1]
    if first and is_symbol(list[first.from], "{") and self.partner[first.from] == first.to then
      inner = first.from
    end
  elseif argument.kind == "string" then
    call.items = { { from = open, to = open } }
  end
  call.is_table = inner ~= false
  if inner then
    for _, entry in ipairs(self:split(inner)) do
      if entry.key then
        call.fields[entry.key] = entry
      else
        call.items[#call.items + 1] = entry
      end
    end
  end
  return call
end

local function find_calls(self)
  self.calls = {}
  for index = 2, #self.list - 1 do
    local token, before = self.list[index], self.list[index - 1]
    if token.kind == "name" and (is_symbol(before, ":") or is_symbol(before, "."))
      and not (before.text == "." and self.list[index - 2].text == ".") then
      self.calls[#self.calls + 1] = read_call(self, index)
    end
  end
end

-- The name of the function whose word is at an index: its own, or that of what it is assigned to.
local function name_of(self, index)
  local list, words = self.list, {}
  local at = index + 1
  while list[at].kind == "name" or is_symbol(list[at], ".") or is_symbol(list[at], ":") do
    words[#words + 1] = list[at].text
    at = at + 1
  end
  if #words > 0 then return table.concat(words) end
  if is_symbol(list[index - 1], "=") and list[index - 2].kind == "name" then
    return self.list[index - 2].text
  end
end

local function find_functions(self)
  self.functions = {}
  for index, token in ipairs(self.list) do
    if token.kind == "name" and token.text == "function" and self.partner[index] then
      local name = name_of(self, index)
      self.functions[#self.functions + 1] = { from = index, to = self.partner[index], name = name,
        field = name and name:match "[^.:]+$", line = token.line }
    end
  end
end

-- The kind of what a call makes, if that calls handlers.
function source.maker(call)
  if call.name == "timer" and call.is_table then return call.fields.every and "every" or "after" end
  if call.name == "signal" and #call.items == 0 and not call.is_table then return nil end
  if call.name == "source" and not call.is_table then return nil end
  if REPEATING[call.name] or ONCE[call.name] then return call.name end
end

local function mark(fn, kind, call)
  fn.handler_of = kind
  fn.call = call
  fn.repeats = REPEATING[kind] ~= nil
end

-- Which functions are handlers: those in a maker's call, and those it names.
local function find_handlers(self)
  local named = {}
  for _, call in ipairs(self.calls) do
    local kind = source.maker(call)
    if kind then
      local entries = { table.unpack(call.items) }
      for key, entry in pairs(call.fields) do
        if HANDLER_KEYS[key] then entries[#entries + 1] = entry end
      end
      for _, entry in ipairs(entries) do
        local token = self.list[entry.from]
        if token.text == "function" and self.partner[entry.from] == entry.to then
          for _, fn in ipairs(self.functions) do
            if fn.from == entry.from then mark(fn, kind, call) end
          end
        elseif token.kind == "name" and entry.from == entry.to then
          named[token.text] = named[token.text] or { kind, call }
        end
      end
    end
  end
  for _, fn in ipairs(self.functions) do
    local by = fn.name and named[fn.name]
    if by and not fn.handler_of then mark(fn, by[1], by[2]) end
  end
end

-- The innermost function around an index; nil at the top level.
function Source:function_at(index)
  local found
  for _, fn in ipairs(self.functions) do
    if fn.from < index and index < fn.to and (not found or fn.from > found.from) then found = fn end
  end
  return found
end

-- The outermost function around an index; nil at the top level.
function Source:outermost_at(index)
  for _, fn in ipairs(self.functions) do
    if fn.from < index and index < fn.to then return fn end
  end
  return nil
end

-- The innermost handler around an index; nil if there is none.
function Source:handler_at(index)
  local found
  for _, fn in ipairs(self.functions) do
    if fn.handler_of and fn.from < index and index < fn.to
      and (not found or fn.from > found.from) then
      found = fn
    end
  end
  return found
end

-- Whether a name is called as a method or function between two indices.
function Source:calls_between(name, from, to)
  for _, call in ipairs(self.calls) do
    if call.name == name and call.index > from and call.index < to then return true end
  end
  return false
end

-- Whether a call's result is dropped.
function Source:is_statement(call)
  local before = self.list[call.start - 1]
  return not GOES_ON[before.text] or before.kind == "string"
end

-- How often a string appears in the text as a whole literal.
function Source:count_string(text)
  local count = 0
  for _, token in ipairs(self.list) do
    if token.kind == "string" and token.text == text then count = count + 1 end
  end
  return count
end

-- The rules that comments turn off, by line.
local function allowances(list, comments)
  local allowed, occupied = {}, {}
  for _, token in ipairs(list) do
    if token.kind ~= "end" then occupied[token.line] = true end
  end
  local last = list[#list].line
  for _, comment in ipairs(comments) do
    local names = comment.text:match "moonloop:%s*allow%s+([%w%-, ]+)"
    if names then
      local line = comment.line
      while not occupied[line] and line <= last do line = line + 1 end
      allowed[line] = allowed[line] or {}
      for name in names:gmatch "[%w%-]+" do allowed[line][name] = true end
    end
  end
  return allowed
end

-- Reads a text.
function source.of(text, path)
  local list, comments = tokens.of(text)
  setmetatable(list, before_all)
  local self = setmetatable({ list = list, path = path, text = text, partner = match_pairs(list),
    allowed = allowances(list, comments) }, Source)
  find_calls(self)
  find_functions(self)
  find_handlers(self)
  return self
end

-- Whether a script uses the loop at all.
function Source:is_ours()
  for index, token in ipairs(self.list) do
    if token.kind == "string" and token.text == "moonloop"
      and (self.list[index - 1].text == "require" or self.list[index - 2].text == "require") then
      return true
    end
  end
  return false
end

-- Whether the file is a module: it returns a value.
function Source:is_module()
  for index, token in ipairs(self.list) do
    if token.kind == "name" and token.text == "return" and not self:function_at(index) then
      return true
    end
  end
  return false
end

return source
