-- A problem as plain text, for reports that are mainly read by programs.
local diff = require "moonloop.testing.diff"

--- The text of a problem: where, what, the difference, the traceback, the seed.
return function(problem)
  local where = problem.where and problem.where .. ": " or ""
  local hook = problem.hook and ("in %s: "):format(problem.hook) or ""
  local parts = { where .. hook .. problem.message }
  if problem.source then parts[#parts + 1] = problem.source end
  if problem.comparison then
    parts[#parts + 1] = table.concat(diff.lines(problem.comparison), "\n")
  end
  if problem.output then parts[#parts + 1] = "output of programs:\n" .. problem.output end
  if (problem.traceback or "") ~= "" then
    parts[#parts + 1] = "traceback:\n" .. problem.traceback
  end
  if problem.seed then parts[#parts + 1] = ("seed: %d"):format(problem.seed) end
  return table.concat(parts, "\n")
end
