-- The report for programs: one JSON object per line, as things happen.
local json = require "moonloop.json"

-- Microseconds for times; values under test may have any type.
local FORM = { decimals = 6, is_lenient = true }

local lines = {}
lines.__index = lines

--- Makes the reporter.
function lines.new(write) return setmetatable({ write = write }, lines) end

--- Handles a record.
function lines:record(record)
  if record.type == "listed" or record.type == "note" then return end
  self.write(json.encode(record, FORM), "\n")
  io.stdout:flush()
end

return lines
