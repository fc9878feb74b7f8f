-- An isolated guest has the interface of any other: calls both ways with copies and errors, ports,
-- its status, suspension, limits and their verdicts, and an end.
local ml = require "moonloop"
local loop = ml.current()

local heard, written, errors = {}, {}, {}
local port = ml.port { name = "from the guest" }
port:on("message", function(message) heard[#heard + 1] = message end)
loop:add(port)

local guest <close> = ml.guest {
  isolate = true, name = "far", args = { port = port, n = 3 }, allow = { "timers" },
  text = [[
    local args = ...
    local ml = require "moonloop"
    print "begins"
    args.port:send { text = "hello", n = args.n }
    kept = {}
    function keep(value) kept[#kept + 1] = value return kept end
    function late(seconds) ml.sleep(seconds) return "late" end
    function fail() error { code = "E", at = { 1 } } end
    function odd() return print end
    function large() return ("x"):rep(9 << 20) end
    function up(text) return host.up(text) end
    function broken() return host.broken() end
    function again() return pcall(host.broken) end
    function reach() return io, os.getenv, host.none, tostring({}):find "0x" end
    function count() n = (n or 0) + 1 return n end
    function report() ml.current():after(0, function() error "in a timer" end) end
    function nothing() end
    function tick() ml.current():every(1e6, nothing) end
    function crowd(n) return pcall(host.up, table.unpack({}, 1, n)) end
  ]],
  functions = {
    up = function(text) ml.sleep(0.001) return text:upper(), #text, nil, true end,
    broken = function() error("it broke", 0) end,
  },
  on_output = function(_, text) written[#written + 1] = text end,
  on_error = function(error) errors[#errors + 1] = error.message end,
}
assert(guest.status == "running")

local function raises(text, ...)
  local call <const> = table.pack(...)
  local done, message = pcall(function()
    return guest:call(table.unpack(call, 1, call.n)), nil
  end)
  assert(not done and tostring(message):find(text), tostring(message))
end

loop:task(function()
  local value = { 1 }
  local kept = guest:call("keep", value)
  assert(kept[1][1] == 1 and kept[1] ~= value)
  assert(written[1] == "begins\n")
  assert(guest:call("late", 0.001) == "late")
  local text, count, none, last = guest:call("up", "moon")
  assert(text == "MOON" and count == 4 and none == nil and last == true)
  assert(select("#", guest:call "nothing") == 0)
  local done, why = guest:call("crowd", 1001)
  assert(not done and why == "1001 values are too many: an isolated guest takes and returns 1000 "
    .. "at most", why)
  local ok, raised = pcall(guest.call, guest, "fail")
  assert(not ok and raised.code == "E" and raised.at[1] == 1)
  raises("^guest:call: 'none' of guest 'far' %(made at Guests/isolated.lua:%d+%): there is no "
    .. "function 'none' %(Guests/isolated.lua:%d+%)$", "none")
  raises("'odd' of guest .*: result 1 is a function, which cannot be returned %(", "odd")
  raises("argument 1 is a function, which", "keep", print)
  raises("it broke", "broken")
  raises("larger than 8388608 bytes", "large")
  raises("larger than 8388608 bytes", "keep", ("x"):rep(9 << 20))
  local done, message = guest:call "again"
  assert(done == false and message == "it broke")
  assert(select("#", guest:call "reach") == 4 and guest:call "reach" == nil)
  assert(#heard == 1 and heard[1].text == "hello" and heard[1].n == 3)
  guest:call "report"
  while #errors == 0 do guest:call "nothing" end
  assert(errors[1] == "guest:16: in a timer", errors[1])
  assert(guest:call "count" == 1)
  guest:call "tick"
  guest:suspend()
  assert(guest.status == "suspended" and #guest:modes() == 0)
  local late = loop:task(guest.call, guest, "count")
  ml.sleep(0.001)
  assert(not late:is_done(), "a call waits for the guest")
  guest:resume()
  assert(late:await() == 2)
  local usage = guest:usage()
  assert(usage.memory > 10000 and usage.callouts > 10 and usage.cpu > 0, usage.callouts)
  assert(usage.resident > 1 << 20 and usage.written == 7)
  assert(usage.messages > 2 and usage.kinds.timer == 1 and usage.handles == 1, usage.messages)
end):wait { mode = "default" }
assert(#errors == 1, "all of it was run")
port:invalidate()
guest:stop()
assert(guest.status == "ended")
assert(guest:usage().written == 7)

-- The effects of a limit.
local function attack(text, limits, verdict, seconds)
  local limited, errors = {}, {}
  local guest = ml.guest {
    isolate = true, name = "attack", text = "local ml = require 'moonloop' " .. text,
    allow = { "timers" }, limits = limits,
    on_limit = function(_, what)
      limited[#limited + 1] = what
      return verdict, seconds
    end,
    on_error = function(error) errors[#errors + 1] = error.traceback end,
  }
  local status
  loop:task(function()
    while #limited == 0 do ml.sleep(0.001) end
    ml.sleep(0)
    status = guest.status
    guest:stop()
  end):wait { mode = "default" }
  return limited[1], errors, status
end
local spin = "ml.current():every(0.001, function() while true do pcall(error) end end)"
local what, errors, status = attack(spin, { instructions = 10000 }, "end")
assert(what == "callout" and status == "ended" and errors[1]:find "guest:1:", errors[1])
what, errors, status = attack(spin, { instructions = 10000 }, "suspend")
assert(what == "callout" and status == "suspended")
what, errors, status = attack("local t = {} while true do t[#t + 1] = {} end", { memory = "2M" },
  "end")
assert(what == "memory" and status == "ended", tostring(what) .. " " .. status)

what, errors, status = attack(
  "local function again() ml.current():perform(again) end again()", { callouts = 10 }, "end")
assert(what == "callouts" and status == "ended" and #errors == 0, tostring(what) .. " " .. status)

-- What cannot be isolated, or started.
for _, word in ipairs { "process", "fd", "signal", "watch", "port" } do
  local done, message = pcall(ml.guest, { isolate = true, text = "", allow = { word } })
  local refusal = "'" .. word .. "' is not available for isolated guests"
  assert(not done and message:find(refusal, 1, true), message)
end
local done, message = pcall(ml.guest, { isolate = true, text = "", allow = { "fs=read:/none/x" } })
assert(not done and message:find("'/none/x' does not exist", 1, true), message)
local value, message, code = ml.guest { isolate = true, text = "x x" }
assert(value == nil and code == "ENOEXEC" and message:find "guest:1: syntax error", message)
