-- Signals as events: by name, number and list; each handle gets each signal; a storm is one call.
local ml = require "moonloop"
local loop = ml.current()
local me = ml.process.id()

-- All processes of a user share one signal queue. When another's storm has filled it, the rest of
-- this test can rely only on getting each signal at least once (ProgramTests test that).
for line in io.lines "/proc/self/status" do
  local used, limit = line:match "^SigQ:%s*(%d+)/(%d+)"
  if used and tonumber(limit) - tonumber(used) < 500 then return end
end

local trace = {}
local function note(...) trace[#trace + 1] = table.concat({ ... }, " ") end
local function settle()
  for _ = 1, 6 do ml.sleep(0) end
  table.sort(trace)  -- equally ready ones take turns in the kernel's order
  local text = table.concat(trace, ", ")
  trace = {}
  return text
end

local one = loop:signal("rtmin+1", function(s, name, info)
  assert(info.pid == me and info.number > 31)
  note("one", name, info.count)
end)
local two = loop:signal { { "rtmin+2", "RTMIN+1" }, name = "two",
  function(s, name) note(s.name, name) end }
assert(table.concat(two.signals, " ") == "rtmin+2 rtmin+1")
ml.process.kill(me, "rtmin+1")
assert(settle() == "one rtmin+1 1, two rtmin+1")
ml.process.kill(me, "SIGRTMIN+2")
assert(settle() == "two rtmin+2")

-- A storm is one call, however many there were; never none.
for _ = 1, 100 do ml.process.kill(me, "rtmin+1") end
assert(settle() == "one rtmin+1 100, two rtmin+1")

-- Two signals at once are two calls, one a pass.
ml.process.kill(me, "rtmin+2")
ml.process.kill(me, "rtmin+1")
assert(settle() == "one rtmin+1 1, two rtmin+1, two rtmin+2")

-- While a handler waits, its signals do (D59).
local slow = loop:signal("rtmin+3", function(s, name, info)
  note("begin", info.count)
  ml.sleep(0.5)
  note "end"
end)
ml.process.kill(me, "rtmin+3")
ml.sleep(0.1)
ml.process.kill(me, "rtmin+3")
ml.process.kill(me, "rtmin+3")
ml.sleep(2)
assert(settle() == "begin 1, begin 2, end, end")
slow:invalidate()

-- Modes: signals that come while none of them runs wait.
local private = loop:signal { "rtmin+4", modes = "private", function() note "private" end }
ml.process.kill(me, "rtmin+4")
assert(settle() == "")
loop:run { mode = "private", timeout = 0 }
assert(settle() == "private")
private:invalidate()

-- The first one called ends the other, which is then not called.
local first, second
first = loop:signal("rtmin+5", function() note "one of them" second:invalidate() end)
second = loop:signal("rtmin+5", function() note "one of them" first:invalidate() end)
ml.process.kill(me, "rtmin+5")
assert(settle() == "one of them")
first:invalidate()
second:invalidate()

one:invalidate()
two:invalidate()
assert(#two.signals == 0)
assert(not pcall(loop.add, loop, one))

-- Made, and added later: signals in between are not lost.
local made = ml.signal { "rtmin+6", function() note "made" end }
ml.process.kill(me, "rtmin+6")
loop:add(made)
assert(settle() == "made")
made:invalidate()
