-- `help(x)`: documentation of a function, a method, a handle or a module.
local ml = require "moonloop"
local pages = require "moonloop.console.pages"
local lists = require "moonloop.text.lists"
local reference = require "moonloop.reference"
local spelling = require "moonloop.text.spelling"

local help = {}

-- The class of a handle or of a built-in module.
local function class_of(value)
  local receivers = reference.all().receivers
  if value == ml then return receivers.ml end
  if type(value) == "userdata" then
    local kind = getmetatable(value)
    return type(kind) == "string" and receivers[kind:gsub(" ", "_")] or nil
  end
  for receiver, class in pairs(type(value) == "table" and receivers or {}) do
    local field = receiver:match "^ml%.([%w_]+)$"
    if field and rawget(ml, field) == value then return class end
  end
end

-- The entries of a class, then those it inherits.
local function each_entry(class)
  return coroutine.wrap(function()
    while class do
      for _, entry in ipairs(class.entries) do coroutine.yield(entry) end
      class = reference.all().classes[class.parent]
    end
  end)
end

--- The entries of a handle or module, with those it inherits.
function help.members(value)
  local found = {}
  for entry in each_entry(class_of(value)) do
    if entry.form ~= "call" then found[#found + 1] = entry end
  end
  return found
end

-- A text without its links.
local function plain(text) return (text:gsub("%[([^%]]-)%]%(.-%)", "%1")) end

local function add_values(lines, title, values, indent)
  if #values == 0 then return end
  lines[#lines + 1] = title
  for _, value in ipairs(values) do
    local kind = value.type:gsub("moonloop%.", "")
    if value.optional then kind = kind .. ", optional" end
    local text = ("%s%s (%s): %s"):format(indent, value.name, kind, plain(value.summary))
    lines[#lines + 1] = text:gsub(":? ?$", "")
    add_values(lines, nil, reference.fields(reference.all(), value) or {}, indent .. "  ")
  end
end

-- Breaks long lines at spaces and indents the rest under the first line.
local function wrapped(line)
  local indent = line:match "^%s*"
  local rows, row = {}, nil
  for word in line:gmatch "%S+" do
    if row and #row + 1 + #word > 80 then
      rows[#rows + 1], row = row, indent .. (indent == "" and "" or "  ") .. word
    else
      row = row and row .. " " .. word or indent .. word
    end
  end
  rows[#rows + 1] = row
  return table.concat(rows, "\n")
end

local function text_of_entry(entry)
  local results = {}
  for place, value in ipairs(entry.returns) do results[place] = value.type end
  local arrow = results[1] and " -> " .. table.concat(results, ", "):gsub("moonloop%.", "") or ""
  local lines = { reference.signature(entry) .. arrow, "" }
  lines[3] = plain(entry.summary .. " " .. entry.details)
  if entry.yields and not lines[3]:find "[Ss]uspends the" then
    lines[3] = lines[3] .. " Suspends the task that calls it."
  end
  if entry.type then lines[4] = "\nType: " .. entry.type:gsub("moonloop%.", "") end
  add_values(lines, "\nTakes", entry.parameters, "  ")
  add_values(lines, "\nReturns", entry.returns, "  ")
  for place, line in ipairs(lines) do
    local start, rest = line:match "^(\n*)(.*)$"
    lines[place] = start .. (place == 1 and rest or wrapped(rest))
  end
  if entry.example ~= "" then
    lines[#lines + 1] = "\nExample\n  " .. entry.example:gsub("\n", "\n  ")
  end
  return table.concat(lines, "\n")
end

local function row_of(entry)
  return ("  %-30s %s"):format(reference.name(entry), plain(entry.summary))
end

local function text_of_class(class)
  local receiver = class.receiver or ""
  local name = receiver:find "^ml" and receiver or class.type:match "[%w_]*$"
  local summary = class.summary:gsub("^`ml%.%a+`: ", "")
  local lines = { wrapped(plain(("%s: %s %s"):format(name, summary, class.details))), "" }
  for entry in each_entry(class) do lines[#lines + 1] = row_of(entry) end
  return table.concat(lines, "\n")
end

local function text_of_page(page)
  local lines = { wrapped(plain(page.title .. ". " .. table.concat(page.text, " "))), "" }
  for _, block in ipairs(page.blocks) do
    if block.form then lines[#lines + 1] = row_of(block) end
  end
  return table.concat(lines, "\n")
end

-- The entry of a function.
local function entry_of_function(value)
  local owners = { ml = ml, loop = ml.current(), [""] = _G }
  for receiver, class in pairs(reference.all().receivers) do
    local field = receiver:match "^ml%.([%w_]+)$"
    local owner = field and rawget(ml, field) or owners[receiver]
    for _, entry in ipairs(owner and class.entries or {}) do
      local is_function = entry.form == "function" or entry.form == "method"
      local ok, found = pcall(function() return is_function and owner[entry.name] end)
      if ok and found == value then return entry end
    end
  end
end

-- The comment above a function of a script.
local function comment_above(value)
  local info = debug.getinfo(value, "S")
  local path = info.source:match "^@(.*)"
  local file = path and io.open(path)
  if not file then return end
  local lines = {}
  for line in file:lines() do
    lines[#lines + 1] = line
    if #lines == info.linedefined then break end
  end
  file:close()
  local first = #lines
  while first > 1 and lines[first - 1]:find "^%s*%-%-" do first = first - 1 end
  local text = table.concat(lines, "\n", first, #lines)
  return ("%s:%d\n%s"):format(info.short_src, info.linedefined, text)
end

-- What a field such as "program.screen" is, and what it has; or a class such as "compat.uv".
local function text_of_field_or_class(name)
  local all = reference.all()
  local owner, word = name:match "^(.+)%.([%w_]+)$"
  for _, field in ipairs(owner and all.receivers[owner] and all.receivers[owner].fields or {}) do
    if field.name == word then
      local lines, class = {}, all.classes[field.type:gsub("%?$", "")]
      add_values(lines, "", { field }, name:sub(1, -#word - 1))
      lines[1] = wrapped(plain(lines[2]))
      lines[2] = class and "\n" .. text_of_class(class)
      return table.concat(lines, "\n")
    end
  end
  local class = all.receivers[name] or all.classes["moonloop." .. name]
  return class and text_of_class(class)
end

-- The class and the last word of a name such as "timer:again".
local function parts_of(name)
  local owner, word = name:match "^(.+)[.:]([%w_]+)$"
  return reference.all().receivers[owner], word, owner
end

-- What a name of another package stands for; Lua's times follow the loop's clock.
local OTHERS = { luv = "compat.uv", luasocket = "compat.socket", ["os.time"] = "ml.wall_time",
  ["os.date"] = "ml.wall_time", ["os.clock"] = "ml.wall_time" }

-- What a name such as "sleep", "ml.sleep", "loop:timer", "timer" or "timers" stands for; nil if
-- nothing is called so.
local function text_of_name(name)
  local all, found = reference.all(), {}
  name = name:gsub("^p([.:])", "program%1"):gsub("^moonloop%.", "")  -- as the pages call it
  name = OTHERS[name:lower()] or name
  for _, page in ipairs(all.pages) do
    local word = name:lower()
    if page.title:lower() == word or page.name == word then return text_of_page(page) end
  end
  for _, class in ipairs(all.classes) do
    if class.receiver == name and name:find "%." then return text_of_class(class) end
    for _, entry in ipairs(class.entries) do
      if reference.name(entry) == name then return text_of_entry(entry) end
      if entry.name == name then found[#found + 1] = entry end
    end
  end
  local owner, word = parts_of(name)
  for entry in each_entry(owner) do  -- an inherited one, or one called with the other sign
    if entry.name == word then return text_of_entry(entry) end
  end
  if #found == 1 then return text_of_entry(found[1]) end
  if #found == 0 then return text_of_field_or_class(name) end
  local lines = { ("%d entries match; choose one:"):format(#found) }
  for place, entry in ipairs(found) do lines[place + 1] = row_of(entry) end
  return table.concat(lines, "\n")
end

-- The same with the page of that name, if there is one.
local function text_with_page(name)
  local text, page = text_of_name(name), pages.text(name)
  return text and page and text .. "\n\n" .. wrapped(page:match "This.*") or text
    or page and page:gsub("[^\n]+", wrapped)
end

-- All that `text_with_page` knows.
local function names()
  local list = {}
  for _, page in ipairs(pages.all()) do list[#list + 1] = page.name end
  for _, page in ipairs(reference.all().pages) do list[#list + 1] = page.title:lower() end
  for _, class in ipairs(reference.all().classes) do
    for _, entry in ipairs(class.entries) do list[#list + 1] = reference.name(entry) end
  end
  return list
end

local related

-- What ends a handle in other libraries.
local VERBS = { cancel = true, stop = true, close = true, clear = true, destroy = true,
  remove = true }

-- What a name with an owner probably means: the owner itself, what ends a handle, or an entry that
-- is called so elsewhere.
local function meant(name)
  local class, word, owner = parts_of(name)
  if not owner then return end
  for _, one in ipairs(reference.all().classes) do
    for _, entry in ipairs(one.entries) do
      if reference.name(entry) == owner then return owner end
    end
  end
  for entry in each_entry(class) do
    if VERBS[word] and entry.name == "invalidate" then return owner .. ":invalidate" end
  end
  return (related(name))
end

-- The entry that is called like the end of a name; and the first whose text has it as a word.
function related(name)
  local word, mention = name:match "[%w_]*$", nil
  for _, class in ipairs(word ~= "" and reference.all().classes or {}) do
    for _, entry in ipairs(class.entries) do
      if entry.name == word then return reference.name(entry) end
      local text = (entry.summary .. " " .. entry.details):lower()
      if not mention and text:find("%f[%w_]" .. word:lower() .. "%f[^%w_]") then
        mention = reference.name(entry)
      end
    end
  end
  return nil, mention
end

-- What else there is with the same beginning, as "; ml.process has id, kill".
local function brothers(name)
  local owner = name:match "^(.+)[.:]"
  local class = owner and reference.all().receivers[owner]
  local list = {}
  for _, entry in ipairs(class and class.entries or {}) do list[#list + 1] = entry.name end
  return list[1] and ("; %s has %s"):format(class.receiver, table.concat(list, ", "))
end

local function hint(name, more)
  local known = table.move(more, 1, #more, 1, {})
  table.move(names(), 1, #names(), #known + 1, known)
  table.move(pages.names(), 1, #pages.names(), #known + 1, known)
  local full = {}  -- the names of entries by their last words
  for _, class in ipairs(reference.all().classes) do
    for _, entry in ipairs(class.entries) do
      if not full[entry.name] then known[#known + 1] = entry.name end
      full[entry.name] = full[entry.name] or reference.name(entry)
    end
  end
  if #name == 1 then return end  -- everything is near
  local near, mention = meant(name) or spelling.nearest(name, known, 1), nil
  if not near then near, mention = related(name) end
  near = near or not mention and spelling.nearest(name, known) or nil
  if near and not lists.contains(more, near) then near = full[near] or near end
  return near and ("; did you mean '%s'?"):format(near) or brothers(name)
    or mention and ("; '%s' mentions it"):format(mention)
end

local overview = [[
help(x) explains a function, a handle or a module: help(ml.sleep), help(loop), help "timers".
Tab completes names, fields and methods. :help lists the commands of the console.
]]

--- The text of `help(x)`.
function help.text(...)
  local value = ...
  if select("#", ...) == 0 then
    local lines = { overview }
    for _, page in ipairs(reference.all().pages) do
      lines[#lines + 1] = ("  %-30s help %q"):format(page.title, page.title:lower())
    end
    lines[#lines + 1] = "\nPages of the documentation, which help names:\n"
    for _, page in ipairs(pages.all()) do
      lines[#lines + 1] = ("  %-30s help %q"):format(page.title, page.name)
    end
    return table.concat(lines, "\n")
  end
  if type(value) == "string" then
    return text_with_page(value)
      or ("no help for '%s'%s"):format(value, hint(value, {}) or "; help() lists the subjects")
  end
  local class = class_of(value)
  if class then return text_of_class(class) end
  if type(value) == "function" then
    local entry = entry_of_function(value)
    if entry then return text_of_entry(entry) end
    return comment_above(value) or tostring(value)
  end
  return ("a %s: %s"):format(type(value), tostring(value))
end

-- Lists what `moonloop help` explains, each once.
local function list_names(commands)
  local list, seen = table.move(names(), 1, #names(), #commands + 1, commands), {}
  for _, name in ipairs(list) do
    if not seen[name] and not name:find "%s" then print(name) end
    seen[name] = true
  end
  return 0
end

--- Runs `moonloop help NAME` for what is no command. The arguments are the number of options, each
-- with its value, then the name. The option `commands` is the list of commands.
function help.command(count, ...)
  local given, options = table.pack(...), {}
  for place = 1, 2 * count, 2 do options[given[place]] = given[place + 1] end
  local name, list = given[2 * count + 1], {}
  for command in options.commands:gmatch "%S+" do list[#list + 1] = command end
  if options.names then return list_names(list) end
  local text = text_with_page(name)
  if text then
    print(text)
    return 0
  end
  local subjects = {}
  for place, page in ipairs(reference.all().pages) do subjects[place] = page.name end
  local named = {}
  for place, page in ipairs(pages.all()) do named[place] = page.name end
  local more = hint(name, list)
    or ("; the commands are %s; the subjects are %s; the pages are %s"):format(
      table.concat(list, ", "), table.concat(subjects, ", "), table.concat(named, ", "))
  io.stderr:write(("moonloop: help: no command and no entry is called '%s'%s\n"):format(name, more))
  return 2
end

return help
