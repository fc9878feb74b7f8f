-- Timeouts, partial results, prefixes and ranges are LuaSocket's, on the loop's clock.
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

-- What arrived before a timeout is returned, and can be passed on as a prefix.
client:settimeout(0.5)
is("0.5 -1", client:gettimeout())
peer:send "first ha"
local begin = ml.now()
is("nil timeout first ha", client:receive())
assert(math.abs(ml.now() - begin - 0.5) < 1e-6)
peer:send "lf\r\nsecond"
is("first half nil nil", client:receive("*l", "first ha"))
is("sec nil nil", client:receive(3))
is("0: nil nil", client:receive(2, "0:"))
is("nil timeout ond", client:receive(5))
is("nil timeout ond", client:receive(5, "ond"))

-- 'b' is for one wait, 't' for the whole call.
local function drip(count, pause)
  return loop:task(function()
    for _ = 1, count do
      ml.sleep(pause)
      peer:send "x"
    end
  end)
end
local dripping = drip(4, 0.4)
is("xxxx nil nil", client:receive(4))
dripping:await()
client:settimeout(1, "t")
dripping = drip(4, 0.4)
begin = ml.now()
is("nil timeout xx", client:receive(4))
assert(math.abs(ml.now() - begin - 1) < 1e-6)
dripping:await()
is("xx nil nil", client:receive(2))
client:settimeout(nil, "t")
is("0.5 -1", client:gettimeout())

-- A full peer: the index of the last byte sent, counted in the text.
local big = ("y"):rep(20000000)
client:settimeout(0)
local sent, why, last = client:send(big, 3)
assert(sent == nil and why == "timeout" and last > 3 and last < #big)
client:settimeout(0.2)
begin = ml.now()
sent, why, last = client:send(big, last + 1, #big)
assert(sent == nil and why == "timeout" and ml.now() - begin > 0.1999)
local reading = loop:task(function() return #peer:receive(#big - 2) end)
is(#big .. " nil nil", client:send(big, last + 1))
assert(reading:await() == #big - 2)
is("2 nil nil", client:send("abc", -2, -2))
is("b nil nil", peer:receive(1))

-- The end of the connection, however late the system hands it over.
client:settimeout(nil) peer:send "rest"
peer:close()
is("nil closed rest", client:receive())
is("nil closed ", client:receive "*a")
is("nil closed ", client:receive(1))
client:close()
is("nil closed ", client:receive())
is("nil closed 0", client:send "x")

-- No client, no server, no such name.
server:settimeout(0.1)
is("nil timeout", server:accept())
server:close()
local bound = socket.tcp4()  -- so that no other program listens there
assert(bound:bind("127.0.0.1", 0))
is("nil connection refused", socket.connect("127.0.0.1", (select(2, bound:getsockname()))))
bound:close()
is("nil host or service not provided, or not known", socket.connect("no.such.host.invalid", 80))
is("nil host not found", socket.dns.toip "no.such.host.invalid")
is("127.0.0.1", (socket.dns.toip "localhost"))
assert(socket.dns.getaddrinfo("localhost")[1].addr)

-- Datagrams.
local one, other = socket.udp(), socket.udp()
assert(one:setsockname("127.0.0.1", 0))
local _, place = one:getsockname()
one:settimeout(0.1)
is("nil timeout", one:receive())
assert(other:setpeername("localhost", place))
loop:after(0.05, function() other:send "datagram" end)
is("datagram", one:receive())
loop:after(0.05, function() other:send "datagram" end)
is("datagram 127.0.0.1 " .. select(2, other:getsockname()), one:receivefrom())
one:close()
other:close()
