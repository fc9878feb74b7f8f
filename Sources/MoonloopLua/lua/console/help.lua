-- `help(x)`: what the reference says of a function, a method, a handle or a module.
local ml = require "moonloop"
local host = require "moonloop.console.host"

local help = {}

local groups

-- The reference, read when somebody asks.
local function reference()
  if groups then return groups end
  groups = host.reference()
  groups.by_type = {}
  for _, group in ipairs(groups) do groups.by_type[group.type] = group end
  return groups
end

local modules = { [ml] = "moonloop" }

-- The group of a handle or of a module.
local function group_of(value)
  local type_name = type(value) == "userdata" and host.type_of(value) or modules[value]
  if type(value) == "table" and not type_name then
    for _, group in ipairs(reference()) do
      local field = group.receiver:match "^ml%.([%w_]+)$"
      if field and rawget(ml, field) == value then type_name = group.type end
    end
  end
  return type_name and reference().by_type[type_name]
end

--- The entries of a handle or module, with those that it inherits.
function help.members(value)
  local found = {}
  local group = group_of(value)
  while group do
    for _, entry in ipairs(group.entries) do
      if entry.form ~= "metamethod" then found[#found + 1] = entry end
    end
    group = group.parent and reference().by_type[group.parent]
  end
  return found
end

local function full_name(group, entry)
  local sign = entry.form == "method" and ":" or "."
  return group.receiver .. sign .. entry.name
end

local function add_values(lines, title, values, indent)
  if #values == 0 then return end
  if title then lines[#lines + 1] = title end
  for _, value in ipairs(values) do
    local kind = value.type:gsub("moonloop%.", "")
    if value.unit then kind = kind .. ", " .. value.unit end
    if value.optional then kind = kind .. ", optional" end
    lines[#lines + 1] = ("%s%s (%s): %s"):format(indent, value.name, kind, value.summary)
    add_values(lines, nil, value.fields, indent .. "  ")
  end
end

-- Long lines are broken at spaces; the rest stands below the text of the first.
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

local function text_of_entry(group, entry)
  local sign = entry.form == "method" and ":" or "."
  local lines = { group.receiver .. sign .. entry.signature, "" }
  lines[3] = entry.summary .. (entry.details ~= "" and " " .. entry.details or "")
  if entry.yields then lines[3] = lines[3] .. " Suspends the task that calls it." end
  add_values(lines, "\nTakes", entry.parameters, "  ")
  add_values(lines, entry.form == "field" and "\nIs" or "\nReturns", entry.returns, "  ")
  for _, problem in ipairs(entry.errors) do lines[#lines + 1] = "\n" .. problem end
  for place, line in ipairs(lines) do
    local start, rest = line:match "^(\n*)(.*)$"
    lines[place] = start .. (place == 1 and rest or wrapped(rest))
  end
  if entry.example ~= "" then
    lines[#lines + 1] = "\nExample\n  " .. entry.example:gsub("\n", "\n  ")
  end
  return table.concat(lines, "\n")
end

local function text_of_group(group)
  local lines = { wrapped(group.title .. ": " .. group.summary:gsub("%[(.-)%]%(.-%)", "%1")), "" }
  while group do
    for _, entry in ipairs(group.entries) do
      if entry.form ~= "metamethod" then
        lines[#lines + 1] = ("  %-30s %s"):format(full_name(group, entry), entry.summary)
      end
    end
    group = group.parent and reference().by_type[group.parent]
  end
  return table.concat(lines, "\n")
end

-- The entry whose function this is.
local function entry_of_function(value)
  local loop = ml.current()
  for _, group in ipairs(reference()) do
    local field = group.receiver:match "^ml%.([%w_]+)$"
    local owner = group.receiver == "ml" and ml or field and rawget(ml, field)
      or group.receiver == "loop" and loop
    for _, entry in ipairs(owner and group.entries or {}) do
      local is_function = entry.form == "function" or entry.form == "method"
      local ok, found = pcall(function() return is_function and owner[entry.name] end)
      if ok and found == value then return group, entry end
    end
  end
end

-- The comment that stands above a function of a script.
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

-- Entries by a name such as "sleep", "ml.sleep" or "loop:timer".
local function text_of_name(name)
  local found, exact = {}, nil
  for _, group in ipairs(reference()) do
    if group.title:lower() == name:lower() then return text_of_group(group) end
    for _, entry in ipairs(group.entries) do
      if full_name(group, entry) == name then exact = text_of_entry(group, entry) end
      if entry.name == name then found[#found + 1] = { group, entry } end
    end
  end
  if exact then return exact end
  if #found == 1 then return text_of_entry(found[1][1], found[1][2]) end
  if #found == 0 then
    return ("nothing is known of '%s'; help() tells what there is"):format(name)
  end
  local lines = { ("there are %d; name one:"):format(#found) }
  for _, one in ipairs(found) do
    lines[#lines + 1] = ("  %-30s %s"):format(full_name(one[1], one[2]), one[2].summary)
  end
  return table.concat(lines, "\n")
end

local overview = [[
help(x) tells what a function, a handle or a module is: help(ml.sleep), help(loop), help "timer".
Tab completes names, fields and methods. :help lists the commands of the console.
]]

--- The text of `help(x)`.
function help.text(...)
  local value = ...
  if select("#", ...) == 0 then
    local lines = { overview }
    for _, group in ipairs(reference()) do
      lines[#lines + 1] = ("  %-22s help %q"):format(group.title, group.title:lower())
    end
    return table.concat(lines, "\n")
  end
  if type(value) == "string" then return text_of_name(value) end
  local group = group_of(value)
  if group then return text_of_group(group) end
  if type(value) == "function" then
    local owner, entry = entry_of_function(value)
    if owner then return text_of_entry(owner, entry) end
    return comment_above(value) or tostring(value)
  end
  return ("a %s: %s"):format(type(value), tostring(value))
end

return help
