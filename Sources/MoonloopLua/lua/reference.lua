-- Reads docs/types/*.lua, the annotated declarations of everything scripts can use, for `help`,
-- completion and the generated pages. See docs/types/README.md for the format.
local packing = require "moonloop.text.packing"

local reference = {}

local Parser = {}
Parser.__index = Parser

function Parser:fail(problem, ...)
  error(("%s:%d: %s"):format(self.file, self.line, problem:format(...)), 0)
end

-- The end of a type that starts at a position: the first blank outside brackets and quotes that
-- does not follow a colon or comma.
local function end_of_type(text, place)
  local depth, quoted = 0, false
  for at = place, #text do
    local c = text:sub(at, at)
    if c == '"' then
      quoted = not quoted
    elseif not quoted and c:find "[%(%[{<]" then
      depth = depth + 1
    elseif not quoted and c:find "[%)%]}>]" then
      depth = depth - 1
    elseif c == " " and not quoted and depth == 0 and not text:sub(at - 1, at - 1):find "[:,]"
      and text:sub(place, at) ~= "async " then
      return at - 1
    end
  end
  return #text
end

-- "name? type text" as a value.
local function value_of(parser, text)
  local name, mark, place = text:match "^(%S-)(%??) ()"
  if not name then parser:fail("'%s' needs a name and a type", text) end
  local last = end_of_type(text, place)
  local kind = text:sub(place, last)
  local is_optional = mark == "?" or name:find "^%[" ~= nil and kind:sub(-1) == "?"
  if is_optional and mark == "" then kind = kind:match "^%(?(.-)%)?%?$" end
  return { name = name, type = kind, optional = is_optional, summary = text:sub(last + 2) }
end

-- The parts of a list, such as the parameters of a function type.
local function split(list)
  local parts, depth, first = {}, 0, 1
  for at = 1, #list do
    local c = list:sub(at, at)
    if c:find "[%(%[{<]" then depth = depth + 1 elseif c:find "[%)%]}>]" then depth = depth - 1 end
    if c == "," and depth == 0 then parts[#parts + 1], first = list:sub(first, at - 1), at + 1 end
  end
  if list:find "%S" then parts[#parts + 1] = list:sub(first) end
  return parts
end

local tags = {}

function tags:meta() self.is_meta = true end
function tags:async() self.block.yields = true end
function tags:type(text) self.block.type = text end
function tags:param(text) table.insert(self.block.parameters, value_of(self, text)) end
function tags:field(text) table.insert(self.block.fields, value_of(self, text)) end
function tags:overload(text) table.insert(self.block.overloads, text) end

tags["return"] = function(self, text)
  local last = end_of_type(text, 1)
  local name, summary = text:sub(last + 2):match "^(%S+) ?(.*)$"
  if not name then self:fail("@return %s needs a name", text) end
  table.insert(self.block.returns, { name = name, type = text:sub(1, last), summary = summary })
end

function tags:class(text)
  self.block.class, self.block.parent = text:match "^([%w_.]+):? ?([%w_.]*)$"
  if not self.block.class then self:fail("@class %s: not understood", text) end
end

function tags:alias(text)
  self.block.alias, self.block.type = text:match "^(%S+) (.+)$"
  if not self.block.alias then self:fail("@alias %s needs a name and a type", text) end
end

function Parser:begin()
  self.block = {
    text = {}, example = {}, parameters = {}, returns = {}, fields = {}, overloads = {},
    page = self.page, line = self.line,
  }
end

-- One line of documentation, without its dashes.
function Parser:document(text)
  if not self.block then self:begin() end
  local tag, rest = text:match "^@(%a+) ?(.*)$"
  if text:find "^```" then
    self.in_example = text == "```lua"
  elseif self.in_example then
    table.insert(self.block.example, text)
  elseif not tag then
    table.insert(self.block.text, text)
  elseif tags[tag] then
    tags[tag](self, rest)
  else
    self:fail("unknown annotation '@%s'", tag)
  end
end

-- The class of a word such as `timer` or `ml.net`.
function Parser:owner(word)
  local receivers, classes = self.result.receivers, self.result.classes
  if word == "" and not receivers[word] then  -- globals, as in spec files
    receivers[word] = { type = "_G", receiver = "", summary = "", fields = {}, entries = {} }
    table.insert(classes, receivers[word])
  end
  return receivers[word] or self:fail("'%s' has no class", word)
end

-- The first line is the summary, the rest are details.
local function finish_text(block)
  block.summary = table.remove(block.text, 1) or ""
  block.details = table.concat(block.text, " ")
  block.example = table.concat(block.example, "\n")
end

function Parser:add_entry(form, owner, name)
  local entry = self.block
  entry.form, entry.name, entry.class = form, name, owner
  table.insert(owner.entries, entry)
  table.insert(self.page.blocks, entry)
end

-- What calling a class's table does, from its `@overload`.
function Parser:add_call(class)
  local inputs, results = self.block.overloads[1]:match "fun(%b()):? ?(.*)$"
  for _, text in ipairs(split(inputs:sub(2, -2))) do
    local name, mark, kind = text:match "^%s*([%w_.]+)(%??):%s*(.*)$"
    table.insert(self.block.parameters,
      { name = name, type = kind, optional = mark == "?", summary = "" })
  end
  for place, kind in ipairs(split(results)) do
    self.block.returns[place] =
      { name = ({ "result", "message", "code" })[place], type = kind:match "%S.*", summary = "" }
  end
  self.block.yields = self.block.overloads[1]:find "^async" ~= nil
  self.block.overloads = {}
  self:add_entry("call", class, "")
end

-- A class that is declared here, or opened again.
function Parser:add_class()
  local block, classes = self.block, self.result.classes
  local class = classes[block.class]
  if not class then
    class = { type = block.class, parent = block.parent, fields = block.fields, entries = {},
      page = self.page, line = block.line, summary = block.summary, details = block.details }
    classes[block.class] = class
    table.insert(self.result.classes, class)
    table.insert(self.page.blocks, class)
  elseif block.summary ~= "" then
    class.summary, class.details, class.page = block.summary, block.details, self.page
    table.insert(self.page.blocks, class)
  end
  return class
end

-- A statement or an empty line ends a block of documentation.
function Parser:finish(statement)
  local block = self.block
  if not block then
    if statement == "" or statement:find "^return " then return end
    self:fail("'%s' has no documentation", statement)
  end
  if self.in_example then self:fail "the example has no end" end
  finish_text(block)
  local word, sign, name, inputs = statement:match "^function ([%w_.]-)([.:]?)([%w_]+)(%b()) end$"
  local path, field = statement:match "^([%w_.]+)%.([%w_]+) = nil$"
  local receiver = statement:match "^local ([%w_]+) = {}$" or statement:match "^(ml%.[%w_.]+) = {}$"
  if block.class then
    local class = self:add_class()
    if receiver then
      class.receiver, self.result.receivers[receiver] = receiver, class
      if block.overloads[1] then self:add_call(class) end
    elseif statement ~= "" then
      self:fail("'%s' does not follow a @class", statement)
    end
  elseif block.alias then
    table.insert(self.result.aliases, block)
    table.insert(self.page.blocks, block)
  elseif field then
    if not block.type then self:fail "a field needs its @type" end
    self:add_entry("field", self:owner(path), field)
  elseif name then
    local names = {}
    for _, value in ipairs(block.parameters) do names[#names + 1] = value.name end
    if inputs ~= "(" .. table.concat(names, ", ") .. ")" then
      self:fail("'%s': its @param lines are %s", statement, table.concat(names, ", "))
    end
    self:add_entry(sign == ":" and "method" or "function", self:owner(word), name)
  elseif not (statement == "" and self.is_meta) then
    self:fail("'%s' cannot be documented", statement)
  end
  self.block, self.is_meta = nil, nil
end

-- A comment: the first is the page's title, later ones its text.
function Parser:comment(text)
  if not self.page.title then self.page.title = text else table.insert(self.page.text, text) end
end

--- Adds a file. Raises "file:line: what is wrong".
function reference.read(result, name, file, text)
  local page = { name = name, text = {}, blocks = {} }
  local parser = setmetatable({ file = file, line = 0, page = page, result = result }, Parser)
  table.insert(result.pages, page)
  for line in (text .. "\n"):gmatch "(.-)\n" do
    parser.line = parser.line + 1
    local documentation, comment = line:match "^%-%-%-(.*)$", line:match "^%-%- ?(.*)$"
    if documentation then
      parser:document(documentation)
    elseif comment then
      if parser.block and parser.is_meta then parser.block = nil end
      parser:comment(comment)
    else
      parser:finish(line)
    end
  end
  parser:finish ""
end

--- Reads files, each { name, file, text }, in this order. The result has `pages` (each with
--- `title`, `text` and `blocks`), `classes` (by place and by name) and `aliases`.
function reference.parse(files)
  local result = { pages = {}, classes = {}, receivers = {}, aliases = {} }
  for _, file in ipairs(files) do reference.read(result, file.name, file.file, file.text) end
  return result
end

local whole

--- All of it, read on first use.
function reference.all()
  if whole then return whole end
  local files = require "moonloop.console.host".reference()
  for _, file in ipairs(files) do file.text = packing.unpacked(file.text) end
  whole = reference.parse(files)
  return whole
end

--- The fields of a class, then those it inherits.
function reference.fields_of(all, class)
  local list, seen = {}, {}
  while class do
    for _, field in ipairs(class.fields) do
      if not seen[field.name] then list[#list + 1] = field end
      seen[field.name] = true
    end
    class = all.classes[class.parent]
  end
  return list
end

--- The options that a table value may have; nil if it is not such a table.
function reference.fields(all, value)
  local class = all.classes[value.type:match "(moonloop%.[%w.]*Options)[^%w]*$" or ""]
  return class and reference.fields_of(all, class)
end

--- How an entry is written in a script: `timer:again(delay)`.
function reference.name(entry)
  local sign = entry.form == "method" and ":" or "."
  local receiver = entry.class.receiver
  if receiver == "" or entry.name == "" then sign = "" end
  return receiver .. sign .. entry.name
end

--- The same with its parameters: `loop:fd(options)`, `ml.break_here([options])`.
function reference.signature(entry)
  if entry.form == "field" then return reference.name(entry) end
  local inputs = {}
  for place, value in ipairs(entry.parameters) do
    inputs[place] = value.optional and "[" .. value.name .. "]" or value.name
  end
  return ("%s(%s)"):format(reference.name(entry), table.concat(inputs, ", "))
end

return reference
