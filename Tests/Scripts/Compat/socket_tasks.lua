-- A call of LuaSocket that would wait suspends its task: timers and other tasks go on meanwhile.
local ml = require "moonloop"
local socket = require "moonloop.compat.socket"
local loop = ml.current()

local trace = {}
local begin = ml.now()
local function at(text) trace[#trace + 1] = ("%.2f %s"):format(ml.now() - begin, text) end

local server = assert(socket.bind("127.0.0.1", 0))
local _, port = server:getsockname()

local serving = loop:task(function()
  local peer = assert(server:accept())
  at "accepted"
  ml.sleep(0.15)
  at("asked " .. assert(peer:receive()))
  assert(peer:send "200 OK\r\n")
  ml.sleep(0.1)
  assert(peer:send(("x"):rep(4000000)))
  peer:close()
  server:close()
end)

local ticks = 0
local ticking
ticking = loop:every(0.1, function()
  ticks = ticks + 1
  at "tick"
  if ticks == 3 then ticking:invalidate() end
end)

local client = assert(socket.connect("localhost", port))
client:setoption("tcp-nodelay", true)
client:settimeout(5)
assert(client:send "GET\r\n" == 5)
ml.sleep(0.05)
at "sent"
local line = assert(client:receive())
at("answered " .. line)
local body, why, partial = client:receive "*a"
at(("body %d %s %s"):format(#body, tostring(why), tostring(partial)))
client:close()
serving:await()
ml.sleep(0.1)

local expected = [[
0.00 accepted
0.05 sent
0.10 tick
0.15 asked GET
0.15 answered 200 OK
0.20 tick
0.25 body 4000000 nil nil
0.30 tick]]
local given = table.concat(trace, "\n")
assert(given == expected, given)
