-- The report for TAP readers: the Test Anything Protocol, version 13, with YAML blocks.
local explained = require "moonloop.testing.explained"
local visible = require("moonloop.text.quoting").visible

local tap = {}
tap.__index = tap

--- Makes the reporter.
function tap.new(write)
  write("TAP version 13\n")
  return setmetatable({ write = write, count = 0 }, tap)
end

--- A description must not contain a line end or the start of a directive.
local function description(text)
  return (visible(text:gsub("%s*\n%s*", " ")):gsub("\\", "\\\\"):gsub("#", "\\#"))
end

--- A block of text in YAML, each line indented; characters that YAML cannot hold are replaced.
local function block(write, name, text)
  text = text:gsub("[%c\127]", function(c) return c == "\n" and c or c == "\t" and " " or "?" end)
  if not utf8.len(text) then text = text:gsub("[\128-\255]", "?") end
  write("  ", name, ": |\n")
  -- The first line sets the block's indentation, so it must not begin with blanks.
  for line in (text:gsub("^%s+", "") .. "\n"):gmatch("(.-)\n") do write("    ", line, "\n") end
end

local function problems(write, list)
  write("  ---\n")
  local parts = {}
  for _, problem in ipairs(list) do parts[#parts + 1] = explained(problem) end
  block(write, "message", table.concat(parts, "\n"))
  write("  ...\n")
end

function tap:line(is_well, name, directive)
  self.count = self.count + 1
  self.write(("%s %d - %s%s\n"):format(
    is_well and "ok" or "not ok", self.count, description(name), directive or ""))
end

--- Handles a record.
function tap:record(record)
  if record.type == "test" then
    if record.status == "pending" then
      local note = record.note and " " .. description(record.note) or ""
      self:line(true, record.name, " # SKIP" .. note)
    else
      self:line(record.status == "success", record.name)
      if #record.problems > 0 then problems(self.write, record.problems) end
    end
  elseif record.type == "problem" then
    self:line(false, record.name)
    problems(self.write, { record.problem })
  elseif record.type == "end" then
    self.write(("1..%d\n"):format(self.count))
  end
  io.stdout:flush()
end

return tap
