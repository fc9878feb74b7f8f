-- The stages of a pass in libuv's order: timers, idle, prepare, check, closing; and async handles.
local uv = require "moonloop.compat.uv"

local trace = {}
local function note(text) trace[#trace + 1] = text end
local function is(expected)
  local given = table.concat(trace, " ")
  assert(given == expected, given)
  trace = {}
end

local idle, prepare, check = uv.new_idle(), uv.new_prepare(), uv.new_check()
local passes = 0
check:start(function()
  note "check"
  passes = passes + 1
  if passes == 2 then
    for _, handle in ipairs { idle, prepare, check } do
      handle:close(function() note("closed-" .. handle:get_type()) end)
    end
  end
end)
prepare:start(function() note "prepare" end)
idle:start(function() note "idle" end)
assert(idle:is_active() and prepare:is_active() and check:is_active())
assert(uv.run() == false)
is "idle prepare check idle prepare check closed-check closed-prepare closed-idle"

-- One pass by hand has all stages, including the end.
local timer = uv.new_timer()
check = uv.new_check()
check:start(function() note "check" end)
timer:start(0, 0, function()
  note "timer"
  timer:close(function() note "closed" end)
end)
assert(uv.run "once" == true)
is "timer check closed"
check:unref()
assert(uv.run "nowait" == false)
check:stop()
check:close()
uv.run()
is ""

-- The last is closed first; what closes while others are closing comes in the next pass.
local a, b, c = uv.new_timer(), uv.new_timer(), uv.new_timer()
a:close(function() note "a"; c:close(function() note "c" end) end)
b:close(function() note "b" end)
uv.run()
is "b a c"

-- Async: only the last values sent are delivered, once.
local async
async = uv.new_async(function(...)
  note(table.concat({ ... }, ","))
  async:close(function() note "closed" end)
end)
assert(uv.async_send(async, "lost") == 0)
assert(async:send("x", 1, 2.5) == 0)
assert(uv.loop_alive())
uv.run()
is "x,1,2.5 closed"
local ok, message = pcall(async.send, async, print)
assert(ok, message)  -- it is closed, so the arguments are not checked

-- A callback may start and stop others; nothing may suspend in it.
idle, prepare = uv.new_idle(), uv.new_prepare()
idle:start(function()
  note "idle"
  idle:stop()
  prepare:start(function()
    note "prepare"
    prepare:close()
    idle:close()
  end)
end)
uv.run()
is "idle prepare"
