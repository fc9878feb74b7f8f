-- The results of tests for reporters and workers; each run of a test adds its problems.
local records = {}

local rank = { success = 0, pending = 1, failure = 2, error = 3 }

--- Makes the record of a test that has not run.
-- @param name the full name, with its blocks; `title` is without them
function records.new(name, title, file, where)
  return {
    type = "test", file = file, name = name, title = title, where = where,
    status = "success", seconds = 0, problems = {},
  }
end

--- Adds a problem; the worst one decides the test's status.
function records.add(record, problem)
  if problem.status == "pending" then
    if rank[record.status] == 0 then record.status, record.note = "pending", problem.message end
    return
  end
  table.insert(record.problems, problem)
  if rank[problem.status] > rank[record.status] then record.status = problem.status end
end

return records
