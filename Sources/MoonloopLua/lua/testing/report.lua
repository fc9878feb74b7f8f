-- The reporters of a run: each gets every record; tests are counted here.
local bed = require "moonloop.testing.bed"
local durations = require "moonloop.testing.durations"
local memory = require "moonloop.testing.memory"

local report = {}
report.__index = report

local makers = {
  people = "moonloop.testing.report.people", tap = "moonloop.testing.report.tap",
  junit = "moonloop.testing.report.junit", json = "moonloop.testing.report.json",
  github = "moonloop.testing.report.github",
}
report.names = { "people", "tap", "junit", "json", "github" }
-- Busted's names, for .busted files and out of habit.
local busted_names = {
  utfTerminal = "people", plainTerminal = "people", gtest = "people", htest = "people",
  TAP = "tap",
}

-- All of them are loaded here, because a spec may change what `require` finds.
local loaded = {}
for name, module in pairs(makers) do loaded[name] = require(module) end

--- Reads `NAME` or `NAME=FILE`.
-- @return name and file (nil for standard output); or nil and a message
function report.parse(text)
  local name, file = text:match("^([^=]*)=(.+)$")
  name = name or text
  name = busted_names[name] or name
  if not makers[name] then
    return nil, ("--output: must be one of %s, or NAME=FILE, got '%s'"):format(
      table.concat(report.names, ", "), text)
  end
  return name, file
end

--- Makes the reporters that the options ask for.
-- @return one that calls them all; or nil and a message
function report.new(options)
  local self = setmetatable({
    reporters = {}, endings = {},
    counts = { success = 0, failure = 0, error = 0, pending = 0, problems = 0, tests = 0 },
  }, report)
  for _, text in ipairs(options.output) do
    local name, path = report.parse(text)
    if not name then return nil, path end
    local write, message
    if path then
      write, message = self:open("output", path, "w")
      if not write then return nil, message end
    elseif options.defer_print then
      write = self:defer()
    else
      write = function(...)
        io.stdout:write(...)
        self.has_written = true
      end
    end
    local to_file = path ~= nil
    self.reporters[#self.reporters + 1] = loaded[name].new(write, options, to_file)
  end
  if bed.is_replay then self.reporters[#self.reporters + 1] = self.for_replay(options) end
  -- Workers have the name of no file: the program that started them remembers.
  if options.log_success ~= "" then
    self.reporters[#self.reporters + 1] = memory.new(options)
    if options.durations and not options.shard then
      self.reporters[#self.reporters + 1] = durations.new(options.durations, function(message)
        self.problem = self.problem or message
      end)
    end
  end
  return self:log(options.log_success)
end

-- In a replay a report for people is written past the recording, whatever was written then.
function report.for_replay(options)
  local color = bed.is_terminal(1) and "always" or "never"
  local function write(...) bed.write(1, table.concat { ... }) end
  return loaded.people.new(write, setmetatable({ color = color, verbose = true },
    { __index = options }), true)
end

-- Opens a file of an option; what cannot be written to it is reported at the end.
-- @return a function that writes; or nil and a message
function report:open(option, path, mode)
  local file, message = io.open(path, mode)
  if not file then return nil, ("--%s: cannot write %s"):format(option, message) end
  file:setvbuf "line"  -- flush every record, even if this process is killed later
  local function check(ok, why)
    if ok or self.problem then return end
    self.problem = ("--%s: cannot write %s: %s"):format(option, path, why)
  end
  self.endings[#self.endings + 1] = function() check(file:close()) end
  -- As one text: of several, the C library hides how the first ones fail.
  return function(...) check(file:write(table.concat { ... })) end
end

-- Returns a function that keeps its output until the end.
function report:defer()
  local kept = {}
  self.endings[#self.endings + 1] = function() io.stdout:write(table.concat(kept)) end
  return function(...) table.move({ ... }, 1, select("#", ...), #kept + 1, kept) end
end

-- Adds a reporter that appends the names of the tests that pass to a file.
-- @return the reporters; or nil and a message
function report:log(path)
  if not path or path == "" then return self end
  local write, message = self:open("log-success", path, "a")
  if not write then return nil, message end
  self.reporters[#self.reporters + 1] = { record = function(_, record)
    if record.type == "test" and record.status == "success" then write(record.name, "\n") end
  end }
  return self
end

--- Passes a record to all reporters.
function report:record(record)
  local counts = self.counts
  if record.type == "test" then
    counts.tests = counts.tests + 1
    counts[record.status] = counts[record.status] + 1
  elseif record.type == "problem" then
    counts.problems = counts.problems + 1
  end
  for _, reporter in ipairs(self.reporters) do reporter:record(record, counts) end
  -- On a pipe it appears at once, too: a test may take long, or never end.
  if self.has_written then io.stdout:flush() end
  self.has_written = false
end

--- Finishes all reporters.
-- @param is_cut whether not all tests were run
-- @return whether all went well; and what could not be written
function report:finish(seconds, note, is_cut)
  self:record({ type = "end", seconds = seconds, counts = self.counts, note = note,
    is_cut = is_cut or nil })
  for _, finish in ipairs(self.endings) do finish() end
  local counts = self.counts
  return counts.failure + counts.error + counts.problems == 0 and not self.problem, self.problem
end

return report
