-- The report for build servers: JUnit XML, a suite per spec file, written at the end.
local explained = require "moonloop.testing.explained"

local junit = {}
junit.__index = junit

--- Makes the reporter.
function junit.new(write)
  return setmetatable({ write = write, suites = {}, by_file = {} }, junit)
end

local entities = { ["<"] = "&lt;", [">"] = "&gt;", ["&"] = "&amp;", ['"'] = "&quot;" }

--- Text for XML: characters that XML cannot hold become question marks.
local function xml(text)
  text = text:gsub("[%z\1-\8\11\12\14-\31\127]", "?"):gsub('[<>&"]', entities)
  if not utf8.len(text) then text = text:gsub("[\128-\255]", "?") end
  return text
end

--- Text for an attribute, where a line end would be read as a blank.
local function attribute(text) return (xml(text):gsub("\n", "&#10;"):gsub("\t", "&#9;")) end

function junit:suite(file)
  file = file or "the run"
  local suite = self.by_file[file]
  if not suite then
    suite = { name = file, cases = {}, failures = 0, errors = 0, skipped = 0, seconds = 0 }
    self.by_file[file] = suite
    self.suites[#self.suites + 1] = suite
  end
  return suite
end

--- The element of a case with problems: the schema allows only one, so it has all of them.
local function element(status, problems)
  local texts = {}
  for _, problem in ipairs(problems) do texts[#texts + 1] = explained(problem) end
  local first = problems[1].message:match("^[^\n]*")
  return ('<%s message="%s" type="%s">%s</%s>'):format(
    status, attribute(first), problems[1].kind or status, xml(table.concat(texts, "\n\n")), status)
end

function junit:case(suite, record, body)
  suite.seconds = suite.seconds + (record.seconds or 0)
  local class = (record.file or "the run"):gsub("%.lua$", ""):gsub("^%./", ""):gsub("/", ".")
  local head = ('    <testcase classname="%s" name="%s" time="%.3f"'):format(
    attribute(class), attribute(record.name), record.seconds or 0)
  if body then
    suite.cases[#suite.cases + 1] = head .. ">" .. body .. "</testcase>\n"
  else
    suite.cases[#suite.cases + 1] = head .. "/>\n"
  end
end

function junit:finish()
  local write = self.write
  local tests, failures, errors, seconds = 0, 0, 0, 0
  for _, suite in ipairs(self.suites) do
    tests, failures = tests + #suite.cases, failures + suite.failures
    errors, seconds = errors + suite.errors, seconds + suite.seconds
  end
  write('<?xml version="1.0" encoding="UTF-8"?>\n')
  write(('<testsuites tests="%d" failures="%d" errors="%d" time="%.3f">\n'):format(
    tests, failures, errors, seconds))
  for index, suite in ipairs(self.suites) do
    write(('  <testsuite name="%s" id="%d" tests="%d" failures="%d" errors="%d" skipped="%d"'
      .. ' time="%.3f" timestamp="%s">\n'):format(attribute(suite.name), index - 1, #suite.cases,
      suite.failures, suite.errors, suite.skipped, suite.seconds, os.date("!%Y-%m-%dT%H:%M:%S")))
    write(table.concat(suite.cases))
    write("  </testsuite>\n")
  end
  write("</testsuites>\n")
end

--- Handles a record.
function junit:record(record)
  if record.type == "test" then
    local suite = self:suite(record.file)
    if record.status == "success" then return self:case(suite, record) end
    if record.status == "pending" then
      suite.skipped = suite.skipped + 1
      local note = record.note and (' message="%s"'):format(attribute(record.note)) or ""
      return self:case(suite, record, "<skipped" .. note .. "/>")
    end
    local column = record.status == "failure" and "failures" or "errors"
    suite[column] = suite[column] + 1
    self:case(suite, record, element(record.status, record.problems))
  elseif record.type == "problem" then
    local suite = self:suite(record.file)
    suite.errors = suite.errors + 1
    self:case(suite, record, element("error", { record.problem }))
  elseif record.type == "end" then
    self:finish()
  end
end

return junit
