-- The report for programs: one JSON object a line, as things happen.
local json = require "moonloop.json"

-- Seconds have microseconds; values under test may be of any kind.
local FORM = { decimals = 6, is_lenient = true }

local lines = {}
lines.__index = lines

--- Makes the reporter.
function lines.new(write) return setmetatable({ write = write }, lines) end

--- Takes a record.
function lines:record(record)
  if record.type == "listed" or record.type == "note" then return end
  self.write(json.encode(record, FORM), "\n")
  io.stdout:flush()
end

return lines
