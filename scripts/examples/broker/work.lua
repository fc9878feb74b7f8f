-- Works on jobs. What it has done is kept in a ledger, a line when a job begins and one when the
-- broker has its acknowledgement; kill it as you like, another one goes on with its jobs.
--   moonloop run work.lua redis://HOST:PORT LEDGER
local ml = require "moonloop"
local loop = ml.current()

local over = arg[1]
local ledger = assert(io.open(arg[2], "a"))
ledger:setvbuf "line"
local function note(what, number)
  ledger:write(("%s %d %.6f\n"):format(what, number, ml.wall_time()))
end

local news = ml.port { name = "news", over = over, deliver = "all" }
local done = 0

-- A job that is not acknowledged within its lease, because this process was killed, is given to
-- another one. While the handler runs, the lease is renewed.
ml.port { name = "jobs", over = over, at_once = 8, lease = 3, timeout = 60,
  function(_, job, reply)
    note("start", job.number)
    local is_acknowledged, problem = reply()
    note(is_acknowledged and "done" or "refused", job.number)
    if not is_acknowledged then return warn(tostring(problem)) end
    done = done + 1
    if done % 1000 == 0 then news:send(("%d jobs are done"):format(done)) end
  end }

-- For status questions: one of the workers answers.
ml.port { name = "status", over = over,
  function(_, question, reply) reply { question = question, done = done } end }

loop:signal { "term", function() os.exit(0, true) end }
