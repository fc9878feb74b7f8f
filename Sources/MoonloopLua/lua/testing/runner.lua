-- Runs the tree of blocks and tests, and reports the results.
local bed = require "moonloop.testing.bed"
local ml = require "moonloop"
local beds = require "moonloop.testing.beds"
local bus = require "moonloop.testing.bus"
local clock = require "moonloop.testing.clock"
local environment = require "moonloop.testing.environment"
local failure = require "moonloop.testing.failure"
local filter = require "moonloop.testing.filter"
local hooks = require "moonloop.testing.hooks"
local libraries = require "moonloop.testing.libraries"
local nodes = require "moonloop.testing.nodes"
local records = require "moonloop.testing.records"
local shuffle = require "moonloop.testing.shuffle"
local tools = require "moonloop.testing.tools"
local words = require "moonloop.testing.words"

local runner = {}
runner.__index = runner

--- Makes a runner.
-- @param options the result of `moonloop.testing.options`
-- @param report gets the records
function runner.new(options, report)
  local self = setmetatable({ options = options, report = report, stops = false,
    failures = 0, problems = 0 }, runner)
  self.root = {
    kind = "suite", descriptor = "suite", hooks = {}, children = {}, attributes = {},
    options = { leaks = options.leaks },
  }
  return self
end

local file_of, option, place, title = nodes.file_of, nodes.option, nodes.place, nodes.title

--- Reports a problem outside of tests.
function runner:problem(node, problem)
  local file = file_of(node)
  if problem.status == "pending" then
    problem.status, problem.message = "error", "pending() can only be called in a test"
  elseif problem.kind ~= "leak" then
    problem.status = "error"
  end
  local function record(one)
    self.report:record({ type = "problem", file = file and file.name, name = title(node),
      problem = one, where = place(node.trace) })
  end
  record(problem)
  self.problems = self.problems + 1
  local ok, why = pcall(bus.publish, { "error", node.kind }, node, node.parent, problem.message,
    problem)
  if not ok then record({ status = "error", message = tostring(why), traceback = "" }) end
  self:count()
end

--- Ends the run after so many failures.
function runner:count()
  local all = self.failures + self.problems
  if not self.options.keep_going or all >= (self.options.bail or math.huge) then
    self.stops = true
  end
end

local is_setup = { strict_setup = true, lazy_setup = true }
-- What is called even after a signal has asked the program to end.
local is_after_hook = { after_each = true, strict_teardown = true, lazy_teardown = true }

--- Checks whether a signal has asked the program to end: then nothing new begins, but what has
-- begun is ended in order.
function runner:hear()
  local signal = bed.hear()
  if signal then self.stops, self.signal = true, signal end
  return signal
end

--- Calls a function of the spec on the current loop; passes problems to `take`.
-- @return whether all went well
function runner:call(node, take, fn, ...)
  if self:hear() and not is_after_hook[node.kind] and node.phase ~= "after" then return false end
  environment.enter(node)
  local limit = option(node, "timeout") or self.options.timeout
  local callable = fn
  if type(fn) ~= "function" then fn = function(...) return callable(...) end end  -- a spy
  libraries.give()
  local result = bed.call(limit, fn, ...)
  libraries.take()
  environment.leave()
  local is_well = result.status == "ok"
  if not is_well then
    local problem = failure.problem(result, limit, node.kind ~= "it" and title(node) or nil)
    problem.where = problem.where or place(node.trace)
    problem.message = tools.advised(problem.message, node.tools)
    take(problem)
  end
  local exit = self.exit_problem
  self.exit_problem = nil
  if exit and is_well then  -- the spec caught the error, but the test still fails
    is_well = false
    exit.where = exit.where or place(node.trace)
    take(exit)
  end
  local told = {}
  for _, text in ipairs(result.reports or {}) do
    -- What a time limit or signal stopped has already been reported.
    local is_stop = result.status == "timeout" or result.status == "stopped"
    local is_told = is_stop and text:find("\ninterrupted", 1, true)
      or exit and text:find(exit.message, 1, true)
    if not is_told then told[#told + 1] = failure.reported(text) end
  end
  for _, one in ipairs(failure.merged(told)) do take(one) end
  return is_well and #told == 0
end

--- Publishes the start or the end of a node; an error of a subscriber is a problem.
function runner:publish(channel, node, ...)
  if not bus.has_subscribers(channel) then return true end
  local arguments = table.pack(...)
  return self:call(node, function(problem) self:problem(node, problem) end, function()
    bus.publish(channel, node, table.unpack(arguments, 1, arguments.n))
  end)
end

--- What the programs of a test or block wrote, which may explain why it failed.
function runner:said(node, problems, take)
  self:call(node, take, tools.settle, node)
  return tools.said_around(node, problems)
end

--- Runs hooks; passes problems to `take`, or reports them as the hook's own.
-- @param node the test or block that they run for
function runner:hook(node, take)
  return function(hook)
    local problems = {}
    local function note(problem)
      problem.hook = title(hook)
      if problem.status == "failure" then problem.status = "error" end
      problems[#problems + 1] = problem
    end
    local is_well = self:call(hook, note, hook.run, self:arguments(node))
    local said = not take and #problems > 0 and self:said(node, problems, note) or ""
    if said ~= "" then problems[1].output = said end
    for _, problem in ipairs(problems) do
      if is_setup[hook.kind] and not self.signal then
        problem.message = problem.message .. "\nnone of the tests that it prepares was run"
      end
      if take then take(problem) else self:problem(hook, problem) end
    end
    return is_well
  end
end

--- The arguments of tests and hooks: the loop, its clock, and the tools of the test or block.
function runner:arguments(node)
  if not node.tools then
    local file = file_of(node)
    node.tools = tools.new(file and file.name or "", self.options, filter.full_name(node), node,
      option(node, "leaks"))
  end
  return ml.current(), clock.new(beds.clock()), node.tools
end

--- Ends what was made with the tools of a test or block.
-- @param has_failed asked at the end: whether it has
function runner:close_tools(node, take, has_failed)
  local t = node.tools
  if not t then return end
  tools.close(t, function(fn) self:call(node, take, fn) end,
    function() return self.options.keep and has_failed() end)
  node.tools = nil
end

-- ── blocks ─────────────────────────────────────────────────────────────────────────────────────

local function by_name(a, b) return (a.name or "") < (b.name or "") end

--- Puts the children of a block in the order in which to run them.
function runner:arrange(block, sorts, shuffles)
  if sorts then
    table.sort(block.children, by_name)
  elseif block.is_random or (block.is_random == nil and shuffles) then
    shuffle.list(block.children, block.seed or self.seed)
    self.was_shuffled = true
  end
end

function runner:children(block)
  for _, child in ipairs(block.children) do
    if self.stops then
      self.is_cut = true
      return
    end
    if child.kind == "describe" then
      self:block(child)
    elseif child.kind == "it" then
      self:test(child)
    else
      self:pending(child)
    end
  end
end

--- Reports words that got a name but no function.
function runner:tell_unfinished(block)
  for _, one in ipairs(words.unfinished(block)) do
    self:problem(block, { status = "error", traceback = "", where = place(one.site),
      message = ("%s '%s' has no function"):format(one.word, tostring(one.name)) })
  end
end

--- Runs the body of a block, which adds its children, then the children.
function runner:inside(block)
  local function take(problem) self:problem(block, problem) end
  local before = self.failures + self.problems
  local is_well = self:call(block, function(problem)
    if #block.children > 0 and not self.signal then
      problem.message = problem.message .. "\nnone of its tests was run"
    end
    take(problem)
  end, block.run)
  self:tell_unfinished(block)
  if not is_well then return end
  self:arrange(block, self.options.sort_tests, self.options.shuffle_tests)
  if self.options.list then return self:children(block) end
  if hooks.setup(block, self:hook(block)) then self:children(block) end
  block.phase = "after"
  hooks.teardown(block, self:hook(block))
  self:close_tools(block, take, function()
    return self.failures + self.problems > before
  end)
end

--- Whether a block gets its own loop. It does not if the block around it has something to serve, or
--- will have: a lazy setup further out serves all blocks inside.
local function wants_own_loop(block)
  if block.kind == "file" then return true end
  if block.options.clock and block.options.clock ~= beds.clock() then return true end
  return beds.keeper() == nil and not hooks.has_lazy(block.parent)
end

--- Waits until ended things are gone and errors that no task awaits are reported.
function runner:settle(node, take)
  self:call(node, take, function()
    ml.sleep(0)
    ml.sleep(0)
  end)
end

--- Reports what a block or test left behind.
function runner:close(node, take)
  self:settle(node, take)
  local new = option(node, "leaks") == "allow" and {} or beds.new()
  beds.close(new)
  if #new > 0 then take(beds.leak(new)) end
end

--- Runs a file or a describe block.
function runner:block(block)
  local function take(problem) self:problem(block, problem) end
  block.children, block.hooks, block.env = {}, {}, nil
  block.is_random, block.seed, block.lazy_is_well, block.phase = nil, nil, nil, nil
  local has_own = wants_own_loop(block)
  local problem = has_own and beds.enter(option(block, "clock") or self.options.clock, block.name)
  if problem then return take(problem) end
  environment.enter(block)
  beds.open()
  if self:publish({ block.kind, "start" }, block, block.parent) then self:inside(block) end
  block.phase = "after"
  self:publish({ block.kind, "end" }, block, block.parent)
  if block.kind == "file" then self:tell_loaded(block) end
  self:close(block, take)
  environment.leave()
  if has_own then beds.leave() end
end

--- Runs a spec file.
function runner:file(file)
  self.report:record({ type = "file", file = file.name })
  tools.begin_file()
  local before = {}
  for name in pairs(package.loaded) do before[name] = true end
  self.before_file = before
  local folder = file.name:match "^(.*/)" or ""
  local beside = (";%s?.lua;%s?/init.lua"):format(folder, folder)
  package.path = package.path .. beside
  self:block(file)
  local first, last = package.path:find(beside, 1, true)
  if first then package.path = package.path:sub(1, first - 1) .. package.path:sub(last + 1) end
end

--- Reports the modules that a spec file has loaded: `--watch` needs to know what a change affects.
function runner:tell_loaded(file)
  local paths = {}
  for name in pairs(package.loaded) do
    local path = not self.before_file[name] and package.searchpath(tostring(name), package.path)
    if path then paths[#paths + 1] = path end
  end
  table.sort(paths)
  self.report:record({ type = "loaded", file = file.name, modules = paths })
end

-- ── tests ──────────────────────────────────────────────────────────────────────────────────────

--- A record of a test, to which its runs add.
local function record_of(node)
  local file = file_of(node)
  return records.new(filter.full_name(node), node.name, file and file.name, place(node.trace))
end

--- Runs the body of a test and what it passed to `finally`.
function runner:body(node, take)
  local finally
  node.env = { finally = words.finally(function(fn) finally = fn end) }
  node.phase = "body"
  self:call(node, take, node.run, self:arguments(node))
  node.phase = "after"
  if finally then self:call(node, take, finally) end
end

--- Ends a test's programs; their output may explain why it failed.
function runner:finish_tools(node, record, take)
  local said = record.status ~= "success" and self:said(node, record.problems, take) or ""
  self:close_tools(node, take, function()
    return record.status == "failure" or record.status == "error"
  end)
  if said ~= "" and #record.problems > 0 then record.problems[1].output = said end
end

--- Runs a test once, with its hooks, on its loop.
function runner:once(node, record, seed)
  local has_failed = false
  local function take(problem)
    problem.seed = seed
    -- A test that did not get to its end could not end what it had made.
    if problem.kind == "leak" and has_failed then return end
    has_failed = true
    records.add(record, problem)
  end
  local wanted = option(node, "clock")
  local keeper = beds.keeper()
  if keeper and wanted and wanted ~= beds.clock() then
    return take({ status = "error", where = record.where, traceback = "", message =
      ("clock = '%s' needs its own loop, but the block keeps its loop: %s; "
      .. "set the clock on the block"):format(wanted, keeper) })
  end
  local problem = not keeper and beds.enter(wanted or self.options.clock, record.name, record.where)
  if problem then return take(problem) end
  beds.open()
  local tell = self.options.metrics and beds.measure()
  node.phase = "before"
  tools.mark(node)
  bed.order(seed)
  local is_well, ancestor = hooks.before_each(node.parent, self:hook(node, take))
  if is_well then self:body(node, take) end
  node.phase = "after"
  hooks.after_each(ancestor, self:hook(node, take))
  self:finish_tools(node, record, take)
  self:close(node, take)
  if tell then tell() end
  bed.order(nil)
  if not keeper then beds.leave() end
end

--- The seeds for a test's orders; false is the natural order.
function runner:seeds(node)
  local orders = option(node, "orders") or self.options.orders
  if not orders then return { false } end
  if self.options.seed then return { self.options.seed } end
  local first = math.tointeger(tonumber(option(node, "seed"))) or 1
  local seeds = {}
  for index = 1, orders do seeds[index] = first + index - 1 end
  return seeds
end

--- Runs a test in each of its orders, until one fails.
function runner:test(node)
  local record = record_of(node)
  if self.options.list then return self.report:record({ type = "listed", record = record }) end
  if not hooks.lazy_setup(node.parent, function(hook)
    return self:hook(hook.parent)(hook)
  end) then return end
  self.report:record({ type = "test_start", name = record.name, file = record.file })
  environment.enter(node)
  local began = bed.monotonic()
  if self:publish({ "test", "start" }, node, node.parent) then
    local seeds = self:seeds(node)
    for index, seed in ipairs(seeds) do
      node.env = nil
      self:once(node, record, seed or nil)
      if record.status ~= "success" then
        record.orders = seed and { seed = seed, ran = index, of = #seeds } or nil
        break
      end
    end
  end
  record.seconds = bed.monotonic() - began
  self:publish({ "test", "end" }, node, node.parent, record.status)
  environment.leave()
  self:ended(node, record)
end

function runner:ended(node, record)
  self.report:record(record)
  if record.status ~= "success" and record.status ~= "pending" then
    local channel = { record.status, "it" }
    self:publish(channel, node, node.parent, record.problems[1] and record.problems[1].message)
    self.failures = self.failures + 1
    self:count()
  end
end

function runner:pending(node)
  local record = record_of(node)
  if self.options.list then
    if self.options.suppress_pending then return end
    return self.report:record({ type = "listed", record = record })
  end
  record.status = "pending"
  self:publish({ "test", "start" }, node, node.parent)
  self:publish({ "test", "end" }, node, node.parent, "pending")
  self.report:record(record)
end

-- ── the whole run ──────────────────────────────────────────────────────────────────────────────

--- Reads a spec file.
function runner:load(path)
  local file = {
    kind = "file", descriptor = "file", name = path, options = {}, parent = self.root,
    mode = self.options.auto_insulate and "insulate" or nil, hooks = {}, children = {},
    attributes = { envmode = self.options.auto_insulate and "insulate" or nil },
  }
  local chunk, message = loadfile(path, "t", environment.globals)
  file.run = chunk or function() error(message, 0) end
  return file
end

--- Makes `os.exit` an error of the calling test while a function runs: it would end the run, and
--- with status 0 the missing tests would go unnoticed.
function runner:without_exit(fn, ...)
  local exit = os.exit
  os.exit = function(status)
    local info = debug.getinfo(2, "Sl") or {}
    local message = ("os.exit(%s) was called"):format(status == nil and "" or tostring(status))
    local where = place(info.currentline and info)
    self.exit_problem = { status = "error", message = message, where = where, traceback = "" }
    error(message, 2)
  end
  fn(self, ...)
  os.exit = exit
end

--- Runs all files, as often as the options say.
-- @param paths the spec files
function runner:run(paths) self:without_exit(self.run_rounds, paths) end

function runner:run_rounds(paths)
  local root = self.root
  for _, path in ipairs(paths) do table.insert(root.children, self:load(path)) end
  local natural = table.move(root.children, 1, #root.children, 1, {})
  for round = 1, self.options.rounds do
    self.seed = self.options.shuffle_seed or self.options.seed or shuffle.any_seed()
    root.children = table.move(natural, 1, #natural, 1, {})
    root.lazy_is_well = nil
    self:arrange(root, self.options.sort_files, self.options.shuffle_files)
    self:round(round)
    if self.stops then break end
  end
end

function runner:round(round)
  local root = self.root
  root.phase = nil
  local rounds = self.options.rounds
  local problem = beds.enter("real", "the run")
  if problem then return self:problem(root, problem) end
  environment.enter(root)
  if round > 1 then self:publish({ "suite", "reset" }, root, round, rounds) end
  local seed = self.options.shuffle_tests and self.seed or nil
  if self:publish({ "suite", "start" }, root, round, rounds, seed) then
    local goes_on = self.options.list or hooks.setup(root, self:hook(root))
    if goes_on then
      for _, file in ipairs(root.children) do
        self.is_cut = self.is_cut or self.stops
        if self.stops then break end
        self:file(file)
      end
    end
    root.phase = "after"
    if not self.options.list then hooks.teardown(root, self:hook(root)) end
    self:close_tools(root, function(problem) self:problem(root, problem) end,
      function() return self.failures + self.problems > 0 end)
  end
  root.phase = "after"
  self:publish({ "suite", "end" }, root, round, rounds)
  environment.leave()
  beds.leave()
end

return runner
