-- `moonloop check`: tells configurations from scripts, collects and sorts findings, prints them.
local configuration = require "moonloop.configuration"
local configurations = require "moonloop.planning.check.configurations"
local recordings = require "moonloop.planning.check.recordings"
local rules = require "moonloop.planning.check.rules"
local scripts = require "moonloop.planning.check.scripts"
local source = require "moonloop.planning.check.source"
local units = require "moonloop.text.units"

local RECORDING_LIMIT <const> = 256 << 20

local check = {}

-- The finding for a text that does not load; nil if it loads.
local function syntax_mistake(text, path)
  local _, message = load((text:gsub("^#[^\n]*", "")), "@" .. path, "t")
  if not message then return nil end
  local line, problem = message:match ":(%d+): (.*)$"
  return tonumber(line) or 1, problem or message
end

local DATA = "%s: note: it returns a table, but without a section of a configuration, which are %s"
local COMPUTED = "%s: note: it may be a configuration, of which only the text is checked: %s"
local SECTIONS = { timers = true, sources = true, observers = true, signals = true }

-- Whether a file that returns something fills a section of a configuration somewhere.
local function seems_configuration(file)
  for index, token in ipairs(file.list) do
    local before, after = file.list[index - 1], file.list[index + 1]
    if SECTIONS[token.text] and (token.kind == "name" and (before.text == "."
        or after.text == "=" and file.list[index + 2].text ~= "=")
      or token.kind == "string" and before.text == "[") then
      return file:is_module()
    end
  end
  return false
end

local IS_SECTION = {}
for _, name in ipairs(configuration.sections) do IS_SECTION[name] = true end

-- Whether a constructor has sections only, if anything.
local function has_sections_only(file, brace)
  for _, entry in ipairs(file:split(brace)) do
    if not IS_SECTION[entry.key] then return false end
  end
  return true
end

-- What a file returns, as far as its text shows: "configuration" for a table whose only fields are
-- sections, wherever they are filled; "module" for one that has functions; nil if only a run tells.
local function returned(file)
  local list, value = file.list, 0
  for index, token in ipairs(list) do
    if token.kind == "name" and token.text == "return" and not file:function_at(index) then
      value = index + 1
    end
  end
  if list[value].text == "{" then
    return has_sections_only(file, value) and "configuration" or nil
  end
  local name, is_made = list[value].text, false
  local is_plain = list[value + 1].kind == "end"
  for index, token in ipairs(list) do
    if token.kind == "name" and token.text == name and index ~= value then
      local after = list[index + 1].text
      if list[index - 1].text == "function" and (after == "." or after == ":") then
        return "module"
      elseif after == "=" and list[index + 2].text == "{" then
        is_made = has_sections_only(file, index + 2)
        is_plain = is_plain and is_made
      elseif after ~= "." or not IS_SECTION[list[index + 2].text] then
        is_plain = false
      end
    end
  end
  return is_made and is_plain and "configuration" or nil
end

local MODULE <const> = "it has functions, as a module has"

-- Tells a configuration that is computed from a script or a module, by its text and then, as `plan`
-- does, by what it returns. Returns "configuration" or nil; and what there is to note.
local function computed_form(file, text, path)
  if not seems_configuration(file) then return nil end
  local form = not file:is_ours() and returned(file)
  if form == "configuration" then return form end
  if returned(file) == "module" then return nil, not file:is_ours() and MODULE or nil end
  configuration.set_arguments(path)
  local is_one, problem, is_refused = configuration.returns_one(text, path)
  if is_one then return "configuration" end
  if not problem then return nil end
  if is_refused or problem:find(": module '[^\n]-' not found:") then
    return nil, not file:is_ours() and problem:match "^([^\n]*[^\n:])" or nil
  end
  return "configuration"
end

-- The findings of all files: { file, line, rule, what, why, advice } each; and notes as texts. Or
-- nil and a message.
function check.files(paths, options)
  local findings, notes, known = {}, {}, {}
  local by_path, order = {}, {}
  -- The analysis of a file, made once per path, and a function that takes its findings.
  local function look(path, text)
    if by_path[path] then return by_path[path] end
    local seen = source.of(text, path)
    function seen.report(rule, line, what)
      local key = table.concat({ path, line, rule, what }, "\0")
      local allowed = seen.allowed[line]
      if known[key] or allowed and allowed[rule] then return end
      known[key] = true
      findings[#findings + 1] = { file = path, line = line, rule = rule, what = what,
        why = rules.by_name[rule].why, advice = rules.by_name[rule].advice, order = #findings }
    end
    by_path[path] = seen
    return seen
  end
  local texts, forms, others = {}, {}, {}
  for place, path in ipairs(paths) do
    local text, message = configuration.text(path)
    if not text then return nil, "cannot read " .. message end
    texts[place], order[path] = text, place
    forms[place] = configuration.written_as(text)
    local line, problem = syntax_mistake(text, path)
    local file, why = look(path, text), nil
    if not (forms[place] or line) then forms[place], why = computed_form(file, text, path) end
    if line then
      file.is_broken = true
      file.report("syntax", line, problem)
    elseif forms[place] ~= "configuration" then
      others[#others + 1] = file
      if forms[place] == "data" and not file:is_ours() then
        notes[#notes + 1] = DATA:format(path, table.concat(configuration.sections, ", "))
      end
      notes[#notes + 1] = why and COMPUTED:format(path, why)
    end
  end
  for place, path in ipairs(paths) do
    local file = by_path[path]
    if forms[place] == "configuration" and not file.is_broken then
      configurations.check(path, file, options, file.report, look, others)
    elseif not file.is_broken then
      if file:is_ours() then configurations.check_script(file, file.report, look, {}) end
      scripts.check(file, file.report)
    end
  end
  for _, path in ipairs(options.recording or {}) do
    local text, message = configuration.text(path, RECORDING_LIMIT)
    if not text then return nil, "cannot read " .. message end
    local ok, note = recordings.check(path, text, paths, function(file, line, rule, what)
      if not by_path[file] then order[file] = math.huge end
      look(file, texts[file] or "").report(rule, line, what)
    end)
    if not ok then return nil, note end
    notes[#notes + 1] = note
  end
  table.sort(findings, function(a, b)
    if a.file ~= b.file then
      return (order[a.file] or math.huge) < (order[b.file] or math.huge)
        or order[a.file] == order[b.file] and a.file < b.file
    end
    if a.line ~= b.line then return a.line < b.line end
    return a.order < b.order
  end)
  for _, finding in ipairs(findings) do finding.order = nil end
  return findings, notes
end

-- The rules whose findings make all others superfluous.
local SELF_EXPLAINING = { mistake = true, syntax = true }

-- Findings as lines for people.
function check.text(findings, count)
  local lines = {}
  for _, one in ipairs(findings) do
    lines[#lines + 1] = ("%s:%d: %s: %s"):format(one.file, one.line, one.rule, one.what)
    if not SELF_EXPLAINING[one.rule] then
      lines[#lines + 1] = "    why: " .. one.why
      lines[#lines + 1] = "    do:  " .. one.advice
    end
  end
  lines[#lines + 1] = ("%s: %s"):format(units.plural(count, "file"),
    #findings == 0 and "no findings" or units.plural(#findings, "finding"))
  return table.concat(lines, "\n") .. "\n"
end

-- The rules and their reasons.
function check.rules_text()
  local lines = {}
  for _, name in ipairs(rules.order) do
    local rule = rules.by_name[name]
    lines[#lines + 1] = ("%s\n    %s:\n    %s"):format(name, rule.why, rule.advice)
  end
  return table.concat(lines, "\n") .. "\n"
end

return check
