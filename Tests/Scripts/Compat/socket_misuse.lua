-- LuaSocket on the loop, used wrongly: two tasks on one socket, closing during a wait, cancelling,
-- wrong arguments, and places where Lua cannot wait.
local ml = require "moonloop"
local socket = require "moonloop.compat.socket"
local loop = ml.current()

local function is(expected, ...)
  local given = table.pack(...)
  for place = 1, given.n do
    local value = given[place]
    given[place] = tostring(math.type(value) == "float" and math.tointeger(value) or value)
  end
  local text = table.concat(given, " ", 1, given.n)
  assert(text == expected, text)
end

local server = assert(socket.bind("127.0.0.1", 0))
local _, port = server:getsockname()
local client = assert(socket.connect("127.0.0.1", port))
local peer = assert(server:accept())

-- One task reads and another writes; a second reader is refused.
local reader = loop:task(function() return client:receive(3) end)
ml.sleep(0)
is("nil socket busy reading ", client:receive())
assert(client:send "hello\n" == 6)
assert(peer:receive() == "hello")
local full = loop:task(function() return client:send(("z"):rep(20000000)) end)
ml.sleep(0)
is("nil socket busy writing 0", client:send "x")
peer:send "abc"
is("abc nil nil", reader:await())

-- A task waiting for a socket that is closed gets an error.
local accepting = loop:task(function() return server:accept() end)
local selecting = loop:task(function()
  local ready, _, why = socket.select({ server }, nil, 60)
  return #ready, why
end)
reader = loop:task(function() return client:receive() end)
ml.sleep(0)
client:close()
client:close()
server:close()
is("nil closed ", reader:await())
is("nil closed", accepting:await())
is("0 timeout", selecting:await())
is("nil closed", (select(1, full:await())), (select(2, full:await())))

-- A task that is cancelled stops; the socket can be used again.
server = assert(socket.bind("127.0.0.1", 0))
_, port = server:getsockname()
client = assert(socket.connect("127.0.0.1", port))
peer:close()
peer = assert(server:accept())
is("nil", (ml.timeout(0.2, function() return client:receive() end)))
peer:send "later\n"
is("later nil nil", client:receive())

local udp = socket.udp()

-- Mistakes are raised at the line that called, in LuaSocket's words.
for _, case in ipairs {
  { "invalid receive pattern", function() client:receive "*x" end },
  { "invalid receive pattern", function() client:receive(-1) end },
  { "string expected", function() client:send {} end },
  { "invalid timeout mode", function() client:settimeout(1, "x") end },
  { "string expected", function() client:connect() end },
  { "number expected", function() server:settimeout {} end },
  { "number expected", function() udp:receive {} end },
} do
  local ok, message = pcall(case[2])
  assert(not ok and message:find("socket_misuse.lua:", 1, true), message)
  assert(message:find(case[1], 1, true), message)
end

-- Where Lua cannot wait, nothing else is served, as with LuaSocket alone.
local ticks = 0
local ticking = loop:every(0.01, function() ticks = ticks + 1 end)
loop:after(0.05, function() peer:send "never\n" end)
client:settimeout(0.1)
local text = ("x"):gsub("x", function() return (select(2, client:receive())) end)
is("timeout", text)
assert(ticks == 0, ticks)
local in_coroutine = coroutine.wrap(function() return client:receive() end)
is("never nil nil", in_coroutine())
assert(ticks == 1, ticks)
ticking:invalidate()
udp:close()
client:close()
peer:close()
server:close()
