-- luv's timers on our loop: dates, repeats, stopping, what holds the loop, the modes of uv.run.
local uv = require "moonloop.compat.uv"

local trace = {}
local function note(...) trace[#trace + 1] = table.concat({ ... }, " ") end
local function is(expected)
  local given = table.concat(trace, "\n")
  assert(given == expected:gsub("\n +", "\n"):gsub("^ +", ""), given)
  trace = {}
end

local start = uv.now()
local function at() return uv.now() - start end

-- Equal dates fire in starting order; a repeating timer counts from its last fire.
local first, second, third = uv.new_timer(), uv.new_timer(), uv.new_timer()
second:start(20, 0, function() note("second", at()) end)
first:start(20, 0, function() note("first", at()) end)
local count = 0
third:start(10, 25, function()
  count = count + 1
  note("third", at(), third:get_repeat(), third:get_due_in())
  if count == 2 then third:set_repeat(5) end
  if count == 3 then third:stop() end
end)
assert(second:get_due_in() == 20 and second:is_active() and not second:is_closing())
assert(uv.loop_alive() and uv.run() == false and not uv.loop_alive())
is [[
  third 10 25 25
  second 20
  first 20
  third 35 25 25
  third 60 5 5]]
assert(not first:is_active() and first:get_due_in() == 0)

-- Handles made through luv's interface were made at the line of the script.
first:start(1000, 0, print)
local dump = require("moonloop").current():dump()
assert(dump:find("uv timer", 1, true) and dump:find("uv_timers.lua:37", 1, true), dump)
first:stop()

-- again needs a callback and a repeat.
local fresh = uv.new_timer()
assert(select(2, fresh:again()) == "EINVAL: invalid argument")
fresh:start(5, 7, function() note("again", at()); fresh:stop() end)
start = uv.now()
assert(fresh:again() == 0 and fresh:get_due_in() == 7)
uv.run()
is "again 7"

-- Closing: the callback comes later, once; the timer does not fire.
first:start(0, 0, function() note "never" end)
first:close(function() note("closed", tostring(first:is_closing())) end)
note("closing", tostring(first:is_closing()), tostring(first:is_active()))
local ok, message = pcall(first.close, first)
assert(not ok and message:find "is already closing", message)
assert(select(3, first:start(1, 0, print)) == "EINVAL")
uv.run()
is [[
  closing true false
  closed true]]

-- An unreferenced timer does not hold the loop.
second:start(10, 0, function() note "not heard" end)
second:unref()
assert(not second:has_ref() and not uv.loop_alive())
assert(uv.run() == false)
is ""
third:start(10, 0, function() note "third" end)
second:ref()
second:stop()
uv.run()
is "third"

-- once, nowait, stop.
second:start(10, 10, function() note("tick", uv.loop_mode()) end)
assert(uv.run "nowait" == true)
is ""
assert(uv.run "once" == true)
is "tick once"
second:start(10, 10, function() note("tick", uv.loop_mode()); uv.stop() end)
assert(uv.run() == true and uv.loop_mode() == nil)
is "tick default"
-- A stop between runs ends the next one before it begins.
uv.stop()
assert(uv.run() == true)
is ""

-- Functions of uv and methods are the same; error messages are luv's.
uv.timer_stop(second)
local names = {}
uv.walk(function(handle)
  names[#names + 1] = handle:get_type() .. " " .. tostring(handle):match "^[%a_]+"
end)
assert(table.concat(names, ", ") == ("timer uv_timer_t, "):rep(2) .. "timer uv_timer_t",
  table.concat(names, ", "))
ok, message = pcall(uv.timer_start, second, 1, 0)
local wanted = "bad argument #4 to 'timer_start' (function or callable table expected, got nil)"
assert(not ok and message:find(wanted, 1, true), message)
ok, message = pcall(uv.timer_start, {}, 1, 0, print)
wanted = "bad argument #1 to 'timer_start' (Expected uv_timer userdata)"
assert(not ok and message:find(wanted, 1, true), message)
uv.walk(function(handle) handle:close() end)
uv.run()
uv.walk(function() error "nothing is left" end)

-- Time stands still between passes; update_time reads the clock.
local before = uv.now()
uv.sleep(30)
assert(uv.now() == before)
uv.update_time()
assert(uv.now() == before + 30)

local odd = uv.new_timer()
for given, told in pairs { [1.5] = "number has no integer representation",
  ["x"] = "number expected, got string" } do
  local ok, problem = pcall(function() odd:start(given, 0, print) end)
  assert(not ok and problem:find("bad argument #1 to 'start' (" .. told .. ")", 1, true), problem)
end
odd:close()
uv.run()
