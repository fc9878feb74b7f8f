-- Processes that the programs of a test leave behind: daemons, what has left its process group.
local bed = require "moonloop.testing.bed"
local quoting = require "moonloop.text.quoting"

local orphans = {}

-- How long what ends at the same time as a test may take for it.
local PATIENCE = 1

--- A program of the test is about to start: what runs already is not the test's.
-- @param state of its tools: `programs`; here it gets `others`, by process ID
function orphans.begin(state)
  if state.others then return end
  state.others = {}
  for _, one in ipairs(bed.orphans()) do state.others[one.pid] = true end
end

--- Ends the processes that were left behind, and do not end by themselves now.
-- @return the text of the failure; nil if there were none but in the groups of the programs, which
--   end with them
function orphans.finish(state)
  local groups, lines, is_done = {}, {}, not state.others
  local limit = bed.monotonic() + PATIENCE
  for _, program in ipairs(state.programs) do groups[program.pid] = true end
  while not is_done do
    is_done = true
    for _, one in ipairs(bed.orphans()) do
      if not state.others[one.pid] then
        is_done = false  -- its own children are next
        local is_ours = groups[one.group]
        local has_ended = bed.end_orphan(one.pid,
          is_ours and 0 or math.max(0, limit - bed.monotonic()))
        if not is_ours and not has_ended then
          lines[#lines + 1] = ("  process '%s', which a program of the test started"):format(
            quoting.line(one.command))
        end
      end
    end
  end
  return lines[1] and "left something behind:\n" .. table.concat(lines, "\n")
end

return orphans
