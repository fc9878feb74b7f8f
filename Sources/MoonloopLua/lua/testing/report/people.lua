-- The report for people: progress while tests run, then each failure with details.
local bed = require "moonloop.testing.bed"
local diff = require "moonloop.testing.diff"
local visible = require("moonloop.text.quoting").visible

local people = {}
people.__index = people

local codes = { red = "31", green = "32", yellow = "33", dim = "2", bold = "1", mark = "7" }

local function painter(has_colours)
  local paint = {}
  for name, code in pairs(codes) do
    paint[name] = has_colours and function(text)
      if text == "" then return "" end
      return ("\27[%sm%s\27[%sm"):format(code, text, name == "mark" and "27" or "0")
    end or function(text) return text end
  end
  paint.removed, paint.added = paint.red, paint.green
  if not has_colours then paint.mark = nil end
  return paint
end

--- Makes the reporter.
function people.new(write, options, to_file)
  local is_terminal = not to_file and bed.is_terminal(1)
  local wants = options.color
  local has_colours = wants == "always"
    or wants ~= "never" and is_terminal and (os.getenv "NO_COLOR" or "") == ""
  return setmetatable({
    write = write, options = options, paint = painter(has_colours),
    columns = is_terminal and bed.columns() or 80,
    column = 0, failures = {}, pendings = {}, tests = {},
    runs = {}, failed = {},  -- of each test, by its place and name
  }, people)
end

local marks = {
  success = { ".", "green", "ok  " }, failure = { "F", "red", "FAIL" },
  error = { "E", "red", "ERR " }, pending = { "p", "yellow", "pend" },
}

local function seconds_text(seconds)
  if seconds < 0.9995 then return ("%.0f ms"):format(seconds * 1000) end
  return ("%.2f s"):format(seconds)
end

--- Ends the line of dots, so that the next output begins on a new line.
function people:end_line()
  if self.column > 0 then self.write("\n") end
  self.column = 0
end

function people:progress(record)
  local mark = marks[record.status]
  local paint = self.paint[mark[2]]
  if self.options.verbose then
    local time = self.paint.dim(seconds_text(record.seconds))
    self.write(paint(mark[3]), " ", visible(record.name), "  ", time, "\n")
    return
  end
  if self.column >= self.columns then self:end_line() end
  self.write(paint(mark[1]))
  self.column = self.column + 1
  io.stdout:flush()
end

local function indented(text, indent)
  return indent .. text:gsub("\n", "\n" .. indent)
end

function people:problem(problem, name)
  local paint, write = self.paint, self.write
  local where = problem.where and problem.where .. ": " or ""
  local is_elsewhere = problem.hook and problem.hook ~= name
  local hook = is_elsewhere and ("in %s: "):format(problem.hook) or ""
  write(indented(paint.bold(where) .. hook .. visible(problem.message), "  "), "\n")
  if problem.source then write("    ", paint.dim(visible(problem.source)), "\n") end
  if problem.comparison then
    for _, line in ipairs(diff.lines(problem.comparison, paint)) do write("    ", line, "\n") end
  end
  local trace = problem.traceback or ""
  local lines = select(2, trace:gsub("\n", "\n")) + 1
  if problem.output then
    write("  output of programs:\n", indented(visible(problem.output), "  "), "\n")
  end
  -- A traceback of one line repeats the line before the message.
  if trace ~= "" and (lines > 1 or problem.is_busy or self.options.verbose) then
    write(paint.dim(indented("traceback:\n" .. indented(trace, "  "), "  ")), "\n")
  end
end

-- What tells the tests of a run apart.
local function key_of(record) return ("%s\0%s"):format(record.where or record.file, record.name) end

-- Keeps a failure, but of equal ones of a test that runs several times only the first.
function people:keep(record)
  local key = key_of(record)
  local text = record.problems[1] and record.problems[1].message or ""
  local failed = self.failed[key] or { count = 0 }
  self.failed[key] = failed
  failed.count = failed.count + 1
  if not failed[text] then self.failures[#self.failures + 1] = record end
  failed[text] = true
end

function people:failure(record)
  local write, paint = self.write, self.paint
  local word = record.status == "failure" and "FAILED" or "ERROR"
  local key = key_of(record)
  local runs = self.runs[key] or 0
  local often = runs > 1 and ("  (in %d of %d runs)"):format(self.failed[key].count, runs) or ""
  write("\n", paint.red(word), " ", paint.bold(visible(record.name)), often, "\n")
  for _, problem in ipairs(record.problems) do self:problem(problem, record.name) end
  if record.recording then
    write(("  to replay it: moonloop replay %s\n"):format(record.recording))
  end
  local orders = record.orders
  if orders then
    local name = record.name:gsub("'", "'\\''")
    local count = orders.of > 1 and ("order %d of %d, "):format(orders.ran, orders.of) or ""
    write(("  in %sseed %d; to see it again:\n"):format(count, orders.seed))
    write(("    moonloop test %s --name '%s' --seed %d\n"):format(record.file, name, orders.seed))
  end
end

function people:slowest()
  local count = self.options.slowest
  if not count or count < 1 or #self.tests == 0 then return end
  table.sort(self.tests, function(a, b) return a.seconds > b.seconds end)
  self.write("\nSlowest tests:\n")
  for index = 1, math.min(count, #self.tests) do
    local record = self.tests[index]
    self.write(("  %9s  %s  %s\n"):format(
      seconds_text(record.seconds), record.name, self.paint.dim(record.where or "")))
  end
end

function people:finish(record)
  local write, paint, counts = self.write, self.paint, record.counts
  self:end_line()
  if #self.pendings > 0 and not self.options.suppress_pending then
    write("\n")
    for _, pending in ipairs(self.pendings) do
      local note = pending.note and ": " .. pending.note or ""
      local where = paint.dim(pending.where or "")
      write(paint.yellow("PENDING"), " ", visible(pending.name .. note), "  ", where, "\n")
    end
  end
  for _, failure in ipairs(self.failures) do self:failure(failure) end
  self:slowest()
  if record.note then write("\n", record.note, "\n") end
  local failed = counts.failure + counts.error + counts.problems
  write(("\n%d %s in %s"):format(
    counts.tests, counts.tests == 1 and "test" or "tests", seconds_text(record.seconds)))
  if counts.problems > 0 then
    write((", %d %s outside of tests"):format(
      counts.problems, counts.problems == 1 and "error" or "errors"))
  end
  write("\n")
  local skipped = counts.pending > 0 and (", %d skipped"):format(counts.pending) or ""
  local line = ("%d passed, %d failed%s"):format(counts.success, failed, skipped)
  write((failed > 0 and paint.red or paint.green)(line), "\n")
end

--- Handles a record.
function people:record(record)
  if record.type == "file" and self.options.verbose then
    self.write(self.paint.bold(record.file), "\n")
  elseif record.type == "test" then
    self:progress(record)
    self.tests[#self.tests + 1] = record
    self.runs[key_of(record)] = (self.runs[key_of(record)] or 0) + 1
    if record.status == "pending" then
      self.pendings[#self.pendings + 1] = record
    elseif record.status ~= "success" then
      self:keep(record)
    end
  elseif record.type == "problem" then
    self.failures[#self.failures + 1] = {
      name = record.name, status = "error", problems = { record.problem },
      recording = record.recording,
    }
    if not self.options.verbose then self.write(self.paint.red("E")) end
    self.column = self.column + 1
  elseif record.type == "end" then
    self:finish(record)
  end
end

return people
