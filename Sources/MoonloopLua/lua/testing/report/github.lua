-- Annotations for GitHub: a workflow command for each problem, shown at its line.
local explained = require "moonloop.testing.explained"
local visible = require("moonloop.text.quoting").visible

local github = {}
github.__index = github

--- Makes the reporter.
function github.new(write) return setmetatable({ write = write }, github) end

local function data(text)
  return (visible(text):gsub("[%%\n]", { ["%"] = "%25", ["\n"] = "%0A" }))
end

local function property(text)
  return (data(text):gsub("[:,]", { [":"] = "%3A", [","] = "%2C" }))
end

-- The path of a place: Lua shortens long ones at their beginning.
local function full(path, file)
  local tail = path:match "^%.%.%.(.*)$"
  return tail and file and file:sub(-#tail) == tail and file or path
end

function github:annotate(name, problem, file, where)
  local path, line = (problem.where or where or ""):match "^(.*):(%d+)$"
  local place = path and ("file=%s,line=%s,"):format(property(full(path, file)), line)
    or file and ("file=%s,"):format(property(file)) or ""
  self.write(("::error %stitle=%s::%s\n"):format(
    place, property(name), data(explained(problem))))
end

--- Handles a record.
function github:record(record)
  if record.type == "test" then
    for _, problem in ipairs(record.problems) do
      self:annotate(record.name, problem, record.file, record.where)
    end
  elseif record.type == "problem" then
    self:annotate(record.name, record.problem, record.file)
  end
end

return github
