-- Reruns spec files when they, or modules that they load, have changed.
local bed = require "moonloop.testing.bed"
local ml = require "moonloop"
local worker = require "moonloop.testing.worker"

local watch = {}

-- Seconds without a change before a rerun: editors write in several steps.
local DEBOUNCE = 0.1
-- Folders without sources, whose changes are ignored.
local ignored = { "^%.", "/%.", "^node_modules/", "^lua_modules/", "luacov%.%w+%.out$" }

local function is_ignored(path)
  for _, pattern in ipairs(ignored) do
    if path:find(pattern) then return true end
  end
  return false
end

local function normal(path) return (path:gsub("^%./", ""):gsub("/%./", "/")) end

--- Remembers the modules that each spec file has loaded.
local function remember(loaded, records)
  for _, record in ipairs(records) do
    if record.type == "loaded" then
      local set = {}
      for _, path in ipairs(record.modules) do set[normal(path)] = true end
      loaded[record.file] = set
    end
  end
end

--- The spec files that changes affect; all of them if the changed file is not known to be loaded.
local function touched(files, loaded, changes)
  local wanted = {}
  for _, path in ipairs(changes) do
    local is_known = false
    for _, file in ipairs(files) do
      if normal(file) == path or loaded[file] and loaded[file][path] then
        wanted[file], is_known = true, true
      end
    end
    if not is_known then return files end
  end
  local list = {}
  for _, file in ipairs(files) do
    if wanted[file] then list[#list + 1] = file end
  end
  return list
end

--- Runs some files in a worker that writes to our own streams.
local function run_files(given, files, outputs)
  local folder <close> = worker.folder()
  local path = folder.path .. "/records"
  local options = worker.arguments(given, files, path)
  for index, output in ipairs(outputs) do
    table.insert(options, 4 + 2 * index - 1, "--output")
    table.insert(options, 4 + 2 * index, output)
  end
  io.stdout:flush()
  local running = {}
  local signal
  local signals <close> = worker.forward(running, function(number) signal = number end)
  local process = worker.spawn(options)
  running[process] = true
  process:await()
  if signal then bed.end_program(signal) end
  return not signal and worker.records(path) or nil
end

local function changed_text(changes)
  if #changes == 1 then return changes[1] end
  return ("%s and %d more"):format(changes[1], #changes - 1)
end

--- Watches this folder and, recursively, each folder in it that may hold sources.
-- @param watched the names already watched
-- @param hear called with the paths of changes
-- @param reports the files that runs write, by path
local function watch_folders(watched, hear, reports)
  local function add(name, is_recursive)
    if watched[name] then return end
    watched[name] = assert(ml.current():watch { name, recursive = is_recursive,
      debounce = DEBOUNCE, function(_, changes)
        local paths = {}
        for _, change in ipairs(changes) do
          local path = normal(change.path)
          local is_ours = is_ignored(path) or reports[path] or bed.is_own_output(path)
          if change.kind ~= "attributes" and not is_ours then paths[#paths + 1] = path end
        end
        if #paths > 0 then hear(paths) end
      end })
  end
  add(".", false)
  for _, entry in ipairs(bed.files(".") or {}) do
    local is_source = entry.kind == "directory" and not is_ignored(entry.name .. "/")
    if is_source then add(entry.name, true) end
  end
end

local function count(files) return ("%d spec file%s"):format(files, files == 1 and "" or "s") end

--- Runs the files, and reruns what changes affect, until a signal ends the program.
-- @param given the options as given
-- @param find returns the current spec files
function watch.run(given, settings, find)
  local changes, resume, watched, reports = {}, nil, {}, {}
  for _, output in ipairs(settings.output) do
    local report = output:match "=(.*)"
    if report then reports[normal(report)] = true end
  end
  local function hear(paths)
    table.move(paths, 1, #paths, #changes + 1, changes)
    if resume then resume(true) end
  end
  local loaded = {}
  local files = assert(find())
  local run = files
  while true do
    watch_folders(watched, hear, reports)
    if #run > 0 then
      local records = run_files(given, run, settings.output)
      if not records then return nil end
      remember(loaded, records)
    end
    print(("\nWatching %s; Ctrl-C ends."):format(count(#files)))
    io.stdout:flush()
    if #changes == 0 then ml.await(function(wake) resume = wake end) end
    resume = nil
    local seen = changes
    changes = {}
    files = find() or {}
    run = touched(files, loaded, seen)
    print(("\nChanged: %s; running %d of %s"):format(changed_text(seen), #run, count(#files)))
  end
end

return watch
