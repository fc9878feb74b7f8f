-- A guest's memory ends with it: after two hundred guests, the host uses as much as before.
local ml = require "moonloop"
local loop = ml.current()

local function cycle(count)
  for i = 1, count do
    local guest = ml.guest {
      allow = { "timers", "net" }, on_output = function() end, functions = { f = function() end },
      text = [[
        local ml = require "moonloop"
        local loop = ml.current()
        loop:every(1, print)
        ml.net.listen { host = "127.0.0.1", port = 0, print }
        loop:task(function() local held <close> = setmetatable({}, { __close = function()
          print "closed" end }) ml.sleep(1000) end)
        loop:port { name = "p", print }
        t = ("x"):rep(10000)
        function wait() ml.sleep(1000) end
      ]],
    }
    local waiting = loop:task(function() return guest:call "wait" end)
    ml.sleep(0)
    ml.sleep(0)
    guest:stop()
    local value, _, code = waiting:await()
    assert(value == nil and code == "ECANCELED", tostring(value))
  end
  collectgarbage()
  collectgarbage()
end

loop:task(function()
  cycle(20)
  local memory = collectgarbage "count"
  cycle(200)
  assert(collectgarbage "count" < memory + 20, memory .. " and " .. collectgarbage "count")
end):wait { mode = "default" }
