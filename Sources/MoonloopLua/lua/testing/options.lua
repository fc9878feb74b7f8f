-- The settings of a run: from the command line first, then the file `.busted`, then our defaults.
local bed = require "moonloop.testing.bed"
local foreign = require "moonloop.testing.foreign"
local layout = require "moonloop.text.layout"
local patterns = require "moonloop.text.patterns"
local spelling = require "moonloop.text.spelling"

local options = {}

-- Each option: how to read its text, its default, and its name in .busted if that differs.
local kinds = {
  output = { "list" },
  pattern = { "list", { "_spec%.lua$", "_test%.lua$" } }, ["exclude-pattern"] = { "list", {} },
  filter = { "list", {} }, ["filter-out"] = { "list", {} }, name = { "list", {} },
  tags = { "commas", {} }, ["exclude-tags"] = { "commas", {} },
  ["exclude-names-file"] = { "text" },
  ["repeat"] = { "count", 1 }, seed = { "seed" }, ["shuffle-seed"] = { "seed" },
  orders = { "count" }, timeout = { "seconds", 60 },
  clock = { "choice", "real", { "real", "virtual", "skip_idle" } },
  slowest = { "count" }, jobs = { "count" },
  color = { "choice", "auto", { "auto", "always", "never" } },
  helper = { "text" }, Xhelper = { "commas", {} }, e = { "list", {} },
  lpath = { "path", "./src/?.lua;./src/?/?.lua;./src/?/init.lua" },
  cpath = { "path", "./csrc/?.so;./csrc/?/?.so" },
  run = { "text" }, ["config-file"] = { "text" },
  coverage = { "flag", false }, ["coverage-config-file"] = { "text" },
  verbose = { "flag", false }, list = { "flag", false }, lazy = { "flag", false },
  ["auto-insulate"] = { "flag", true }, ["keep-going"] = { "flag", true },
  recursive = { "flag", true }, ["suppress-pending"] = { "flag", false },
  shuffle = { "flag" }, ["shuffle-files"] = { "flag" }, ["shuffle-tests"] = { "flag" },
  sort = { "flag" }, ["sort-files"] = { "flag" }, ["sort-tests"] = { "flag" },
  ["break-on-error"] = { "flag", false }, ["trace-out"] = { "text" }, metrics = { "flag", false },
  record = { "text" },
  bail = { "count" }, ["rerun-failed"] = { "flag", false }, only = { "flag", false },
  shard = { "shard" }, durations = { "text" },
  update = { "flag", false }, keep = { "flag", false }, watch = { "flag", false },
  leaks = { "choice", "fail", { "fail", "allow" } },
  directory = { "list", {} }, ["log-success"] = { "text" },
  ["defer-print"] = { "flag", false }, Xoutput = { "commas", {} },
  -- Busted's, for which others hold here.
  lua = { "text" }, ["ignore-lua"] = { "flag", false }, loaders = { "commas" }, lang = { "text" },
  version = { "flag", false }, ["enable-sound"] = { "flag", false },
}

-- Names of busted's reporters are mapped to ours.
local foreign_output = { utfTerminal = true, plainTerminal = true, gtest = true, htest = true }

local function number_above(name, text, least, what)
  local number = tonumber(text)
  if not number or not (number >= least) or number == math.huge then
    return nil, ("--%s: must be %s, got '%s'"):format(name, what, tostring(text))
  end
  return number
end

local readers = {}

-- The texts of a text or a list of them.
local function texts(name, value)
  local list = type(value) == "table" and value or { value }
  for _, item in pairs(list) do
    if type(item) ~= "string" then
      return nil, ("--%s: must be a text or a list of texts, got %s"):format(name, tostring(item))
    end
  end
  return list
end

function readers.list(name, value, old)
  local list, message = texts(name, value)
  return list and table.move(list, 1, #list, #(old or {}) + 1, old or {}), message
end

function readers.commas(name, value, old)
  local given, message = texts(name, value)
  if not given then return nil, message end
  local list = old or {}
  for _, text in ipairs(given) do
    for item in text:gmatch("[^,]+") do list[#list + 1] = item end
  end
  return list
end

function readers.path(_, value, old) return old and old .. ";" .. value or tostring(value) end
function readers.text(_, value) return tostring(value) end

-- A host that runs specs has only texts.
local FLAGS = { [true] = true, [false] = false, ["true"] = true, ["false"] = false }

function readers.flag(name, value)
  if FLAGS[value] ~= nil then return FLAGS[value] end
  return nil, ("--%s: must be true or false, got '%s'"):format(name, tostring(value))
end

function readers.count(name, value)
  local number, message = number_above(name, value, 1, "a whole number of at least 1")
  number = number and math.tointeger(number)
  if number then return number end
  return nil, message
    or ("--%s: must be a whole number of at least 1, got '%s'"):format(name, value)
end

function readers.seed(name, value)
  local number = math.tointeger(tonumber(value) or "")
  if number then return number end
  return nil, ("--%s: must be a whole number, got '%s'"):format(name, tostring(value))
end

function readers.seconds(name, value)
  return number_above(name, value, 0.001, "a time in seconds, above 0")
end

function readers.choice(name, value)
  local choices = kinds[name][3]
  for _, choice in ipairs(choices) do
    if value == choice then return value end
  end
  return nil, ("--%s: must be %s, got '%s'"):format(name, layout.list(choices, "or"),
    tostring(value))
end

function readers.shard(_, value)
  local number, count = tostring(value):match "^(%d+)/(%d+)$"
  number, count = math.tointeger(tonumber(number)), math.tointeger(tonumber(count))
  if number and count and number >= 1 and number <= count then
    return { number = number, count = count }
  end
  return nil, ("--shard: must be NUMBER/COUNT, such as 2/5, got '%s'"):format(tostring(value))
end

--- Reads one option into a table of values.
local function read(into, name, value)
  local kind = kinds[name]
  if not kind then return nil, ("unknown option '--%s'"):format(name) end
  local result, message = readers[kind[1]](name, value, into[name])
  if result == nil then return nil, message end
  into[name] = result
  return true
end

--- Reads a `.busted` file.
-- @return its settings by name; an empty table if there is no such file; or nil and a message
local function config(given)
  local path = given["config-file"] or ".busted"
  local file = io.open(path, "r")
  if not file then
    if given["config-file"] then return nil, ("--config-file: cannot read '%s'"):format(path) end
    if given.run then return nil, "--run: there is no file '.busted' here" end
    return {}
  end
  file:close()
  local chunk, message = loadfile(path, "t")
  if not chunk then return nil, message end
  local ok, tasks = pcall(chunk)
  if not ok then return nil, tostring(tasks) end
  if type(tasks) ~= "table" then return nil, ("%s: must return a table"):format(path) end
  local settings = {}
  local task = tasks[given.run or "default"]
  if given.run and type(task) ~= "table" then
    return nil, ("--run: %s has no task '%s'"):format(path, given.run)
  end
  for _, part in ipairs({ tasks._all or {}, task or {} }) do
    for name, value in pairs(part) do settings[name] = value end
  end
  return settings
end

-- What `.busted` can set.
local settable = { "ROOT" }
for name in pairs(kinds) do settable[#settable + 1] = name end
table.sort(settable)

-- What is for the command line alone.
local only_there = { directory = true, ["break-on-error"] = true, ["trace-out"] = true,
  record = true }

-- What is ignored in `.busted`, as text.
local function ignored(name)
  if only_there[name] then return ("'%s' has no effect; use --%s"):format(name, name) end
  return ("unknown option '%s'%s"):format(name, spelling.hint(name, settable))
end

--- Adds what `.busted` sets and the command line does not.
-- @return warnings; or nil and a message
local function merge(given, settings)
  local warnings, added = {}, {}
  for key, value in pairs(settings) do
    local name = tostring(key):gsub("_", "-")
    if not kinds[name] and name ~= "ROOT" or only_there[name] then
      warnings[#warnings + 1] = ignored(name)
    elseif kinds[name] and given[name] == nil then
      if name ~= "output" or not foreign_output[value] then
        local ok, message = read(given, name, value)
        if not ok then return nil, ".busted: " .. message:gsub("^%-%-", "") end
        added[name] = true
      end
    end
  end
  for _, name in ipairs(foreign.names) do
    local objection = added[name] and foreign.objection(name, given)
    if objection then
      warnings[#warnings + 1] = ("'%s' has no effect: %s"):format(name, objection)
      given[name] = nil
    end
  end
  table.sort(warnings)
  return warnings
end

-- Moves to the folder of `--directory`, where `.busted` and the specs are.
local function move(folders)
  for _, folder in ipairs(folders or {}) do
    local ok, message = bed.set_working_folder(folder)
    if not ok then return nil, ("--directory: cannot use '%s': %s"):format(folder, message) end
  end
  return true
end

local function lines_of(path)
  local names = {}
  if not path then return names end
  local file, message = io.open(path, "r")
  if not file then return nil, ("--exclude-names-file: cannot read %s"):format(message) end
  for line in file:lines() do names[#names + 1] = line end
  file:close()
  return names
end

--- Checks options that depend on one another.
local function check(result)
  local is_whole = result.record and result.record:find "%.mlt$"
  result.records = result.record and not is_whole and result.record
  for _, name in ipairs { "trace-out", "record" } do
    local is_one = name == "record" and is_whole or name == "trace-out" and result.trace_out
    if is_one and ((result.jobs or 1) > 1 or result.records) then
      return nil, ("--%s and --%s: give one of them"):format(name,
        result.records and "record" or "jobs")
    end
  end
  for _, tag in ipairs(result.exclude_tags) do
    for _, other in ipairs(result.tags) do
      if tag == other then
        return nil, ("--tags and --exclude-tags both name '%s'"):format(tag)
      end
    end
  end
  for _, list in ipairs({ "filter", "filter_out", "pattern", "exclude_pattern" }) do
    for _, pattern in ipairs(result[list]) do
      local mistake = patterns.mistake(pattern)
      if mistake then return nil, ("--%s: %s"):format(list:gsub("_", "-"), mistake) end
    end
  end
  return result
end

--- Makes the options of a run.
-- @param pairs_given a list of { name, value } as on the command line, names without "--";
--   flags have true, or false for "--no-..."
-- @param paths the operands
-- @return the options, with "_" for "-" in names; or nil and a message for the user
function options.make(pairs_given, paths)
  local given = {}
  for _, pair in ipairs(pairs_given) do
    local ok, message = read(given, pair[1], pair[2])
    if not ok then return nil, message end
  end
  local moved, message = move(given.directory)
  if not moved then return nil, message end
  local settings
  settings, message = config(given)
  if not settings then return nil, message end
  local warnings
  warnings, message = merge(given, settings)
  if not warnings then return nil, message end
  for _, name in ipairs(foreign.names) do
    message = foreign.objection(name, given)
    if message then return nil, ("--%s: %s"):format(name, message) end
  end
  local result = { paths = paths, from_file = settings.ROOT, warnings = warnings }
  for name, kind in pairs(kinds) do
    local value = given[name]
    if value == nil then value = kind[2] end
    result[name:gsub("-", "_")] = value
  end
  if #paths == 0 and settings.ROOT then result.paths = readers.commas("ROOT", settings.ROOT) end
  result.output, message = foreign.outputs(result.output or { "people" }, result.Xoutput)
  if not result.output then return nil, message end
  result.rounds = result["repeat"]
  for _, kind in ipairs({ "shuffle", "sort" }) do
    for _, of in ipairs({ "_files", "_tests" }) do
      if result[kind .. of] == nil then result[kind .. of] = result[kind] or false end
    end
  end
  result.exclude_names, message = lines_of(result.exclude_names_file)
  if not result.exclude_names then return nil, message end
  return check(result)
end

return options
