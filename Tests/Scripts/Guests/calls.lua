-- A guest and its host call each other: with copies, as tasks that may wait; errors arrive
-- unchanged, ports can be sent, and values that cannot be copied are reported.
local ml = require "moonloop"
local loop = ml.current()

local heard = {}
local port = ml.port { name = "from the guest" }
port:on("message", function(message) heard[#heard + 1] = message end)
loop:add(port)

local guest <close> = ml.guest {
  name = "calls", args = { port = port, n = 3 },
  text = [[
    local args = ...
    local ml = require "moonloop"
    args.port:send { text = "hello", n = args.n }
    kept = {}
    function keep(value) kept[#kept + 1] = value return kept end
    function late(seconds) ml.sleep(seconds) return "late", ml.now() end
    function fail() error { code = "E", at = { 1 } } end
    function odd() return print end
    function up(text) return host.up(text) end
    function broken() return host.broken() end
    function again() return pcall(host.broken) end
    function back() return host.give() end
  ]],
  functions = {
    give = function() return print end,
    up = function(text) ml.sleep(1) return text:upper(), #text end,
    broken = function() error("it broke", 0) end,
  },
}

loop:task(function()
  local value = { 1 }
  local kept = guest:call("keep", value)
  assert(kept[1][1] == 1 and kept[1] ~= value)
  value[1] = 2
  assert(guest:call("keep", "x")[1][1] == 1)
  local word, time = guest:call("late", 2)
  assert(word == "late" and time == ml.now(), "the guest's time is the host's")
  local text, count = guest:call("up", "moon")
  assert(text == "MOON" and count == 4)
  local ok, raised = pcall(guest.call, guest, "fail")
  assert(not ok and raised.code == "E" and raised.at[1] == 1)
  -- What is refused names the call, the guest and the caller's line.
  for name, why in pairs {
    none = "there is no function 'none'", odd = "result 1 is a function, which cannot be returned",
  } do
    local refused = select(2, pcall(function() return guest:call(name), nil end))
    assert(refused:find(("guest:call: '%s' of guest 'calls' (made at Guests/calls.lua:")
      :format(name), 1, true), refused)
    assert(refused:find(("): %s (Guests/calls.lua:"):format(why), 1, true), refused)
  end
  local refused = select(2, pcall(guest.call, guest, "back"))
  local cannot = "host.give: result 1 is a function, which cannot be returned (guest:12)"
  assert(refused == cannot, refused)
  assert(select(2, pcall(guest.call, guest, "keep", print)):find "argument 1 is a function, which")
  assert(select(2, pcall(guest.call, guest, "broken")) == "it broke")
  local done, message = guest:call "again"
  assert(done == false and message == "it broke")
  local value, message = ml.timeout(1, function() return guest:call("late", 100) end)
  assert(value == nil and message:find "^timed out: waited ")
  assert(#heard == 1 and heard[1].text == "hello" and heard[1].n == 3)
end):wait { mode = "default" }
port:invalidate()

-- The line at which a limit has stopped the function is said.
local busy <close> = ml.guest {
  text = "function spin()\n  while true do end\nend", limits = { callout = 0.02 },
  on_error = function() end,
}
loop:task(function()
  local ok, message = pcall(function() return busy:call("spin"), nil end)
  assert(not ok and message:find("'spin' of guest (made at Guests/calls.lua:", 1, true)
    and message:find("): call-out took longer than 0.02 seconds, at guest:2 (", 1, true), message)
end):wait { mode = "default" }

-- Where its script has failed, that is why a function is not there.
local half <close> = ml.guest {
  text = "function f() end local none = io.lines 'x' function g() end",
  on_error = function(error) heard[2] = error.message end,
}
loop:task(function()
  half:call "f"
  local ok, message = pcall(function() return half:call("g"), nil end)
  assert(not ok and message:find("there is no function 'g'; its script has failed: guest:1: "
    .. "attempt to index a nil value (global 'io'); a guest has no 'io': print writes, and ml.fs "
    .. 'reads and writes files; allow = { "fs" } would grant it (', 1, true), message)
end):wait { mode = "default" }
assert(heard[2]:find "^guest:1: .*would grant it$", heard[2])
