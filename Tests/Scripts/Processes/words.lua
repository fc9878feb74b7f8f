-- How a child is described: in dumps, by `why`, and in an error of its handler.
local ml = require "moonloop"
local loop = ml.current()

ml.sleep(0)  -- the loop runs
local p = assert(ml.process.spawn { "sleep", "5", name = "nap" })
local row = "process +nap +default +Processes/words.lua:6 +0 +pid " .. p.pid .. ", running"
assert(loop:dump():find(row), loop:dump())
assert(loop:why(p)
  == "process 'nap' (made at Processes/words.lua:6): the child runs, pid " .. p.pid)
assert(loop:why():find("process 'nap' (made at Processes/words.lua:6)", 1, true))
assert(tostring(p) == "process 'sleep' (pid " .. p.pid .. ")")
assert(p.name == "nap")
local job = loop:task(function() return p:await() end)
ml.sleep(0)
ml.sleep(0)
assert(loop:dump():find("waits for the end of process 'sleep' (pid " .. p.pid .. ")", 1, true))
p:terminate()
assert(job:await().signal == "term")
assert(loop:why(p):find("it has ended", 1, true))

-- An exit that waits for a reader that does not read.
local told
local failing = assert(ml.process.spawn {
  "true", on_exit = function() error("no luck", 0) end,
  on_error = function(e) told = e.message .. " in " .. e.handle end,
})
failing:await()
ml.sleep(0)
assert(told == "no luck in process 'true' (made at Processes/words.lua:24)", told)

-- A handler may wait.
local waited
local slow = assert(ml.process.spawn { "true", on_exit = function()
  ml.sleep(1)
  waited = true
end })
slow:await()
ml.sleep(2)
assert(waited)

-- keep_alive(false): it does not keep the run going, and ends with the script.
local idle = assert(ml.process.spawn { "sleep", "5", keep_alive = false })
idle:keep_alive(true):keep_alive(false)
idle:kill()
idle:await()

-- In the modes that were asked for.
local private = assert(ml.process.spawn { "true", modes = "private" })
assert(loop:run { mode = "private" } == "finished")
assert(private.status.code == 0)
