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
  ]],
  functions = {
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
  assert(select(2, pcall(guest.call, guest, "none")):find "no function 'none'")
  assert(select(2, pcall(guest.call, guest, "odd")):find "result 1 is a function, which cannot be")
  assert(select(2, pcall(guest.call, guest, "keep", print)):find "argument 1 is a function, which")
  assert(select(2, pcall(guest.call, guest, "broken")) == "it broke")
  local done, message = guest:call "again"
  assert(done == false and message == "it broke")
  local value, message = ml.timeout(1, function() return guest:call("late", 100) end)
  assert(value == nil and message:find "^timed out: waited ")
  assert(#heard == 1 and heard[1].text == "hello" and heard[1].n == 3)
end):wait { mode = "default" }
port:invalidate()
