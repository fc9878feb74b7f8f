-- A child that closes its pipes but lives: their end is seen, its own is not; a full pipe; a child
-- that is stopped.
local ml = require "moonloop"
local loop = ml.current()
local child = assert(ml.process.spawn {
  "sh", "-c", "exec 0<&- 1>&- 2>&-; while :; do sleep 0.05; done",
  stdin = "pipe", stdout = "pipe", stderr = "pipe", group = true,
})
assert(child.stdout:read "a" == "" and child.stderr:read "a" == "")
assert(child.status == nil and child:is_valid())
-- Writing to a closed pipe: an error, no signal.
local ok, message, code
repeat ok, message, code = child.stdin:write "x" until not ok
assert(code == "EPIPE", message)
assert(child:terminate():await().signal == "term")

-- It writes more than a pipe holds, without a reader: it waits, and holds up no other.
local full = assert(ml.process.spawn {
  "sh", "-c", "head -c 1000000 /dev/zero; echo >&2 written", stdout = "pipe", stderr = "pipe",
})
local other = ml.process.run { "echo", "meanwhile" }
assert(other.stdout == "meanwhile\n" and full.status == nil)
assert(#full.stdout:read "a" == 1000000 and full.stderr:read "l" == "written")
assert(full:await().code == 0)

-- Stopped in the middle, it neither ends nor fails; continued, it goes on where it was.
local stopped = assert(ml.process.spawn {
  "sh", "-c", "read line; echo got $line; read line; echo got $line",
  stdin = "pipe", stdout = "pipe",
})
stopped.stdin:write "one\n"
assert(stopped.stdout:read "l" == "got one")
assert(stopped:kill "stop")
stopped.stdin:write "two\n"
local answer = loop:task(function() return stopped.stdout:read "l" end)
ml.process.run { "sleep", "0.05" }
assert(answer.status == "suspended" and stopped.status == nil)
assert(stopped:kill "cont")
assert(answer:await() == "got two" and stopped:await().code == 0)
