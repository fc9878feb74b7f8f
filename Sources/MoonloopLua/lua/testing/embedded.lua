-- The runner inside a Swift program: runs one spec file and reports to a function of the program.
local explained = require "moonloop.testing.explained"
local main = require "moonloop.testing.main"

--- The reporter that calls the function.
-- @param tell called with status, name, place ("file:line") and text for each test and each problem
--   outside of tests; of a test that is only listed the status is "listed"
local function reporter(tell)
  return { record = function(_, record)
    if record.type == "test" then
      local texts = {}
      for _, problem in ipairs(record.problems) do texts[#texts + 1] = explained(problem) end
      local where = record.problems[1] and record.problems[1].where or record.where
      tell(record.status, record.name, where or "", table.concat(texts, "\n"))
    elseif record.type == "listed" then
      tell("listed", record.record.name, record.record.where or "", "")
    elseif record.type == "problem" then
      tell("error", record.name, record.problem.where or "", explained(record.problem))
    end
  end }
end

--- Runs a spec file.
-- @param given a list of { name, value }, as options of the command line
-- @return nil; or what is wrong with the options, or missing
return function(path, given, tell)
  return main.run_embedded(path, given, reporter(tell))
end
