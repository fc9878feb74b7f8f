-- `moonloop test`: from the options to the exit status.
local bed = require "moonloop.testing.bed"
local assertions = require "moonloop.testing.assertions"
local discover = require "moonloop.testing.discover"
local durations = require "moonloop.testing.durations"
local failure = require "moonloop.testing.failure"
local facade = require "moonloop.testing.facade"
local filter = require "moonloop.testing.filter"
local fixtures = require "moonloop.testing.fixtures"
local jobs = require "moonloop.testing.jobs"
local memory = require "moonloop.testing.memory"
local options = require "moonloop.testing.options"
local report = require "moonloop.testing.report"
local runner = require "moonloop.testing.runner"
local shuffle = require "moonloop.testing.shuffle"
local tools = require "moonloop.testing.tools"
local watch = require "moonloop.testing.watch"
local words = require "moonloop.testing.words"
local worker = require "moonloop.testing.worker"
local quoting = require "moonloop.text.quoting"

local main = {}

local SUCCESS, FAILURE, USAGE = 0, 1, 2

local function complain(message)
  io.stdout:flush()
  io.stderr:write("moonloop: test: ", message, "\n")
  return USAGE
end

--- The folder of specs if none is named.
local function default_paths()
  return bed.files("spec") and { "spec" } or { "." }
end

--- Defines the words of spec files, and busted for those that require it.
local function prepare(settings, run)
  local library, message = assertions.load()
  if not library then return nil, message end
  local all = words.all(settings.lazy)
  for name, part in pairs(library) do all[name] = part end
  all.expect = function(stream, ...) return tools.expect(stream, ...) end
  run.root.env = all
  words.wants = filter.make(settings)
  package.loaded.busted = facade.new(all)
  -- Specs that run on their own begin with require "busted.runner" ().
  package.preload["busted.runner"] = function() return function() end end
  -- Last, so that an installed busted has precedence.
  table.insert(package.searchers, function(name)
    return name == "busted.fixtures" and function() return fixtures end or nil
  end)
  return true
end

local function extend_paths(settings)
  package.path = settings.lpath .. ";" .. package.path
  package.cpath = settings.cpath .. ";" .. package.cpath
end

-- Why a helper cannot be found; nil if it can.
local function missing(helper)
  if helper:find "%.lua$" then
    local file, message = io.open(helper)
    if file then file:close() end
    return message and "--helper: cannot read " .. message
  end
  if package.loaded[helper] or package.preload[helper] then return nil end
  local is_there = package.searchpath(helper, package.path)
    or package.searchpath(helper, package.cpath)
  if is_there then return nil end
  return ("--helper: there is no module '%s'; a file ends with .lua"):format(helper)
end

--- Runs the helper and the statements of `-e`.
local function run_helper(settings, run)
  for _, text in ipairs(settings.e) do
    local chunk, message = load(text, "=(-e)", "t")
    if not chunk then return nil, "-e: " .. message end
    local result = bed.call(nil, chunk)
    if result.status ~= "ok" then return nil, "-e: " .. tostring(result.message) end
  end
  local helper = settings.helper
  if not helper or helper == "" then return true end
  local problem = missing(helper)
  if problem then return nil, problem end
  local old_arguments = arg
  arg = table.move(settings.Xhelper, 1, #settings.Xhelper, 1,
    { [-1] = old_arguments and old_arguments[-1], [0] = helper })
  local environment = require "moonloop.testing.environment"
  environment.enter(run.root)
  local result = bed.call(nil, function()
    local value
    if helper:find("%.lua$") then value = dofile(helper) else value = require(helper) end
    if type(value) == "function" then
      assert(value(package.loaded.busted, helper, { arguments = settings.Xhelper }))
    end
  end)
  environment.leave()
  arg = old_arguments
  if result.status == "ok" then return true end
  return nil, ("the helper '%s' failed: %s"):format(helper, tostring(result.message))
end

-- Not counted: our runner and the library of its asserts.
local not_covered = { "^moonloop/", "/luassert/", "/say/init$", "/say$", "/term/%w+$" }

--- Loads luacov, whose hook counts lines from now on.
local function start_coverage(settings)
  if not settings.coverage then return true end
  local ok, luacov = pcall(require, "luacov.runner")
  if not ok and tostring(luacov):find("module 'luacov.runner' not found", 1, true) then
    return nil, "--coverage: luacov is not installed; 'luarocks install luacov' does that"
  elseif not ok then
    return nil, "--coverage: luacov does not load: " .. tostring(luacov)
  end
  local configuration = luacov.load_config(settings.coverage_config_file)
  local exclude = table.move(configuration.exclude or {}, 1, #(configuration.exclude or {}), 1, {})
  configuration.exclude = table.move(not_covered, 1, #not_covered, #exclude + 1, exclude)
  luacov.init(configuration)
  -- The hook is per coroutine, and handlers and tests run in the loop's coroutines.
  bed.follow_lines(luacov.debug_hook)
  return true
end

local function list(run, files)
  local was_ended = false
  local lister = { record = function(_, record)
    if record.type == "listed" then
      local where = record.record.where
      print((where and where .. ": " or "") .. quoting.line(record.record.name))
    elseif record.type == "problem" and record.problem.message:find "^interrupted" then
      was_ended = true  -- by a signal, or the reader has gone
    elseif record.type == "problem" then
      run.list_failed = true
      io.stderr:write((record.problem.where or record.file or "?") .. ": "
        .. record.problem.message, "\n")
    end
  end }
  run.report = lister
  run:run(files)
  if was_ended then return nil end
  return run.list_failed and FAILURE or SUCCESS
end

--- Explains a run without tests, or how to get the same order again.
local function note(settings, run, counts)
  if run.signal then return "Interrupted: not all tests were run." end
  if counts.tests == 0 and counts.problems == 0 then
    return "No test was run: none matches the filters, or the files define none."
  end
  local failed = counts.failure + counts.error + counts.problems
  local lines = {}
  if run.is_cut then
    lines[1] = ("Stopped after %d %s: not all tests were run."):format(failed,
      failed == 1 and "failure" or "failures")
  end
  if failed > 0 and (run.was_shuffled or settings.shuffle_files) then
    lines[#lines + 1] = ("Random seed: %d"):format(run.seed)
  end
  return lines[1] and table.concat(lines, "\n")
end

--- Finishes the reports.
-- @return the exit status, or nil if a signal ended the run
local function finish(settings, run, began)
  local seconds = bed.monotonic() - began
  local is_well, problem = run.report:finish(seconds, note(settings, run, run.report.counts),
    run.is_cut or run.signal ~= nil)
  if problem then complain(problem) end
  if not run.signal then
    if not is_well then return FAILURE end
    -- A misspelt filter must not look like success.
    return run.report.counts.tests == 0 and USAGE or SUCCESS
  end
  bed.end_program(run.signal)
  return nil
end

--- Runs `moonloop test` for the program.
-- @param count the number of options; the name and value of each follow, then the paths
-- @return the exit status, or nil if a signal ended the run
function main.command(count, ...)
  local arguments = table.pack(...)
  local given = {}
  for index = 1, count do given[index] = { arguments[2 * index - 1], arguments[2 * index] } end
  local paths = table.move(arguments, 2 * count + 1, arguments.n, 1, {})
  local exit = os.exit
  local ok, status = xpcall(main.run, debug.traceback, given, paths)
  if ok then return status end
  os.exit = exit  -- while specs run, it is an error
  -- Our own mistake: errors of specs do not get here.
  complain("the runner itself failed: " .. tostring(status))
  return FAILURE
end

--- Limits a run to the tests that failed in the last one.
-- @return whether there are any; or nil and a message
local function want_failed(settings)
  local names, files = memory.failed()
  if not names then return nil, files end
  if #names == 0 and not next(files) then return false end
  if #settings.name > 0 then return nil, "--rerun-failed and --name: give one of them" end
  settings.name, settings.whole_files = names, files
  return true
end

--- The spec files that the options and paths select; or nil and a message.
local function find(settings)
  local files, message = discover.find(settings.paths, settings)
  if not files then return nil, message end
  if settings.shard and #files > 0 then
    return durations.share(files, settings.shard, settings.durations)
  end
  if #files > 0 then return files end
  return nil, ("no file in %s matches %s"):format(
    table.concat(settings.paths, ", "), table.concat(settings.pattern, " or "))
end

--- Runs `moonloop test`.
-- @param given a list of { name, value } as for options.make
-- @param paths the files and folders to test
-- @return the exit status
function main.run(given, paths)
  local settings, message = options.make(given, paths)
  if not settings then return complain(message) end
  if worker.is_one(given) then
    if not bed.is_replay then bed.end_with_parent() end
  else
    for _, text in ipairs(settings.warnings) do complain("warning: .busted: " .. text) end
  end
  if settings.rerun_failed then
    local has_any
    has_any, message = want_failed(settings)
    if message then return complain(message) end
    if not has_any then
      print "No test in this folder has failed and not passed since."
      return SUCCESS
    end
  end
  if #settings.paths == 0 then settings.paths = default_paths() end
  local files
  files, message = find(settings)
  if not files then return complain(message) end
  if #files == 0 then
    print(("No file is in shard %d of %d."):format(settings.shard.number, settings.shard.count))
    return SUCCESS
  end
  if settings.watch then return watch.run(given, settings, function() return find(settings) end) end
  if ((settings.jobs or 1) > 1 or settings.records) and not settings.list then
    return main.run_jobs(given, settings, files)
  end
  return main.run_files(settings, files)
end

--- Runs the files, each in its own process.
function main.run_jobs(given, settings, files)
  local began = bed.monotonic()
  local run = { options = settings }
  local message
  if settings.records then
    local ok
    ok, message = bed.make_folders(settings.records)
    if not ok then return complain("--record: " .. message) end
  end
  run.report, message = report.new(settings)
  if not run.report then return complain(message) end
  if (settings.shuffle_files or settings.shuffle_tests) and not settings.seed then
    run.seed = settings.shuffle_seed or shuffle.any_seed()
    given[#given + 1] = { "shuffle-seed", tostring(run.seed) }
  end
  run.seed = run.seed or settings.seed
  run.was_shuffled = settings.shuffle_tests
  if settings.shuffle_files then shuffle.list(files, run.seed) end
  run.report:record({ type = "start", files = #files, seed = settings.seed })
  jobs.run(run, given, files)
  return finish(settings, run, began)
end

-- A test that ends as pending has not failed.
local function break_on_failures()
  local breakpoint = require "moonloop.console.breakpoint"
  function breakpoint.is_expected(value) return failure.kind(value) == "pending" end
end

--- Makes a runner, ready to run files; or nil and a message.
local function make_runner(settings)
  local run = runner.new(settings)
  if settings.break_on_error then break_on_failures() end
  local ok, message = prepare(settings, run)
  if ok then ok, message = start_coverage(settings) end
  extend_paths(settings)
  if ok then ok, message = run_helper(settings, run) end
  if not ok then return nil, message end
  return run
end

--- Runs one file for a program that embeds the runner.
-- @param reporter gets all records
-- @return nil; or what is wrong
function main.run_embedded(path, given, reporter)
  local settings, message = options.make(given, { path })
  if not settings then return message end
  local run
  run, message = make_runner(settings)
  if not run then return message end
  run.report = reporter
  run:run({ path })
end

--- Runs the files in this process.
function main.run_files(settings, files)
  local began = bed.monotonic()
  local run, message = make_runner(settings)
  if not run then return complain(message) end
  if settings.list then return list(run, files) end
  run.report, message = report.new(settings)
  if not run.report then return complain(message) end
  bed.hear(true)
  bed.adopt()
  run.report:record({ type = "start", files = #files, seed = settings.seed })
  run:run(files)
  return finish(settings, run, began)
end

return main
