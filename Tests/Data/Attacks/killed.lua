-- An isolated guest whose process is killed at each step of its life: at each thing that its host
-- sees of it, and at so many moments of its first 100 ms. Its end is reported once, what waits for
-- it fails, and nothing is left. Prints "held STEPS".
local ml = require "moonloop"
local loop = ml.current()

local text = [[
  local port = ...
  local ml = require "moonloop"
  local loop = ml.current()
  print "begins"
  port:send "from the chunk"
  function echo(...) return ... end
  function ask(...) return host.answer(...) end
  function speak() print "text" port:send { 1, ("x"):rep(100000) } return true end
  function fail() error { code = "E" } end
  function later() loop:perform(function() error "in a block" end) return true end
  function spin() while true do end end
  function grow() local t = {} while true do t[#t + 1] = {} end end
  function wait() ml.sleep(1000) end
  function large() return ("x"):rep(3 << 20) end
]]

-- The process that was started last. The file is incomplete while others end.
local function child()
  local own = ml.fs.read("/proc/self/stat"):match "%d+"
  for _ = 1, 100 do
    local list = ml.fs.read("/proc/self/task/" .. own .. "/children") or ""
    local last = list:match "(%d+) *$"
    if last then return tonumber(last) end
  end
end

local function descriptors() return #assert(ml.fs.list "/proc/self/fd") end

local function kill(pid) ml.process.kill(pid, "kill") end

-- All that can pass between a host and a guest, some of it at once.
local function talk(call, guest, step)
  call("echo", 1)
  call("echo", ("x"):rep(3 << 20))
  call("ask", { ("y"):rep(1000) })
  call "speak"
  call "fail"
  call "later"
  guest:suspend()
  step "suspended"
  local late = loop:task(call, "echo", 2)
  guest:resume()
  step "resumed"
  late:await()
  call "spin"
  call "grow"
  call "large"
  local waits = loop:task(call, "wait")
  ml.sleep(0.002)
  step "while it waits"
  loop:task(function() ml.sleep(0.005) waits:cancel "enough" end)
  pcall(waits.await, waits)
end

-- A guest whose process is killed at a step, or, if that is a string, so many milliseconds after
-- its start. Returns what the step was; nil if there are fewer.
local function live(last)
  local steps, killed, at, guest, pid = 0, 0, nil, nil, nil
  local function step(word)
    steps = steps + 1
    if steps ~= last then return end
    at = word
    kill(pid)
  end
  local port = loop:port { capacity = 1000, function() step "a message" end }
  guest = ml.guest {
    isolate = true, name = "killed", text = text, args = port, allow = { "timers" },
    limits = { memory = "32M", callout = 3600, instructions = 20000000 },   -- no real time
    functions = {
      answer = function(...)
        step "a call"
        ml.sleep(0.001)
        step "a call that waits"
        return ...
      end,
    },
    on_output = function() step "output" end,
    on_limit = function() step "a limit" return "warn" end,
    on_error = function(failure)
      local is_end = failure.message:find "the guest's process was killed"
      if is_end then killed = killed + 1 else step "an error" end
    end,
  }
  pid = child()
  step "its start"
  local after = type(last) == "string" and tonumber(last) / 1000
  if after then loop:after(after, function() kill(pid) end) end
  local function call(...)
    local done, _, _, code = pcall(guest.call, guest, ...)
    step "an answer"
    return done and code
  end
  talk(call, guest, step)
  if after then ml.sleep(after) end
  if at or after then
    local what = " after " .. tostring(at or last)
    ml.timeout(60, function() while guest.status ~= "ended" do ml.sleep(0.001) end end)
    assert(guest.status == "ended", guest.status .. what)
    assert(killed == 1, killed .. what)
    assert(call("echo", 1) == "ECANCELED", what)
  end
  guest:stop()
  port:invalidate()
  return at
end

local times = tonumber(...) or 20
loop.on_error = function(failure) print(failure.traceback) loop:stop() end
loop:task(function()
  live()  -- what is made once
  local before = descriptors()
  local at, count = nil, 0
  repeat
    count = count + 1
    at = live(count)
  until not at
  for number = 1, times do live(("%g"):format(number * 100 / times)) end
  ml.timeout(60, function() while descriptors() > before do ml.sleep(0.01) end end)
  assert(descriptors() <= before, "descriptors are left")
  print("held " .. count - 1)
  loop:stop()
end)
