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
    reporters = {}, files = {}, deferred = {},
    counts = { success = 0, failure = 0, error = 0, pending = 0, problems = 0, tests = 0 },
  }, report)
  for _, text in ipairs(options.output) do
    local name, path = report.parse(text)
    if not name then return nil, path end
    local file = io.stdout
    if path then
      local message
      file, message = io.open(path, "w")
      if not file then return nil, ("--output: cannot write %s"):format(message) end
      file:setvbuf "line"  -- flush every record, even if this process is killed later
      self.files[#self.files + 1] = file
    end
    local function write(...)
      file:write(...)
      self.has_written = true
    end
    if options.defer_print and not path then write = self:defer(file) end
    local to_file = path ~= nil
    self.reporters[#self.reporters + 1] = loaded[name].new(write, options, to_file)
  end
  if bed.is_replay then self.reporters[#self.reporters + 1] = self.for_replay(options) end
  -- Workers have the name of no file: the program that started them remembers.
  if options.log_success ~= "" then
    self.reporters[#self.reporters + 1] = memory.new()
    if options.durations and not options.shard then
      self.reporters[#self.reporters + 1] = durations.new(options.durations)
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

-- Returns a function that keeps its output until the end.
function report:defer(file)
  local kept = {}
  self.deferred[#self.deferred + 1] = function() file:write(table.concat(kept)) end
  return function(...) table.move({ ... }, 1, select("#", ...), #kept + 1, kept) end
end

-- Adds a reporter that appends the names of the tests that pass to a file.
-- @return the reporters; or nil and a message
function report:log(path)
  if not path or path == "" then return self end
  local file, message = io.open(path, "a")
  if not file then return nil, ("--log-success: cannot write %s"):format(message) end
  file:setvbuf "line"
  self.files[#self.files + 1] = file
  self.reporters[#self.reporters + 1] = { record = function(_, record)
    if record.type == "test" and record.status == "success" then file:write(record.name, "\n") end
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
-- @return whether all went well
function report:finish(seconds, note)
  self:record({ type = "end", seconds = seconds, counts = self.counts, note = note })
  for _, write in ipairs(self.deferred) do write() end
  for _, file in ipairs(self.files) do file:close() end
  local counts = self.counts
  return counts.failure + counts.error + counts.problems == 0
end

return report
