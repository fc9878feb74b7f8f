-- LuaSocket's gettime, sleep and select go through the loop: its clock, and its other items.
local ml = require "moonloop"
local socket = require "moonloop.compat.socket"
local loop = ml.current()
assert(socket == require "socket")

local served = 0
local other = loop:every(0.01, function() served = served + 1 end)

local begin, wall = ml.now(), socket.gettime()
socket.sleep(0.055)
assert(math.abs(ml.now() - begin - 0.055) < 1e-6, "the loop's clock has moved on")
assert(math.abs((socket.gettime() - wall) - (ml.now() - begin)) < 1e-6, "and gettime with it")
assert(served == 5, "others are served meanwhile")

local function lengths(readers, writers, why) return #readers, #writers, why end
local function is(expected, ...)
  local given = table.concat({ tostring((select(1, ...))), tostring((select(2, ...))),
    tostring((select(3, ...))) }, " ")
  assert(given == expected, given)
end

local server = assert(socket.bind("127.0.0.1", 0))
local _, port = server:getsockname()
is("0 0 timeout", lengths(socket.select({ server }, nil, 0.02)))
assert(served == 7, "while select waits, too")
is("0 0 timeout", lengths(socket.select({ server }, nil, 0)))
other:invalidate()

local client = assert(socket.connect("127.0.0.1", port))
local readers, writers, why = socket.select({ server }, { client }, 1)
is("1 1 nil", lengths(readers, writers, why))
assert(readers[1] == server and readers[server] == 1 and writers[client] == 1)

-- A socket with data read ahead counts as ready, even if its descriptor is silent.
local peer = assert(server:accept())
client:send "one\ntwo\n"
is("1 0 nil", lengths(socket.select({ peer }, nil)))
assert(peer:receive "*l" == "one")
is("1 0 nil", lengths(socket.select({ peer }, nil, 5)))
assert(peer:receive "*l" == "two")
is("0 0 timeout", lengths(socket.select({ peer }, nil, 0)))

-- The same socket in both lists, and one that was closed.
client:send "three\n"
peer:settimeout(0)
is("1 1 nil", lengths(socket.select({ peer }, { peer }, 1)))
server:close()
is("1 0 nil", lengths(socket.select({ server, peer }, nil, 1)))

-- Mistakes are raised where select was called.
for _, arguments in ipairs { { "wrong", nil }, { {}, 1 } } do
  local ok, message = pcall(function() return (socket.select(arguments[1], arguments[2], 0.1)) end)
  assert(not ok and message:find "^[^:]*socket_select%.lua:%d+: bad argument #%d to 'select'",
    message)
end
client:close()
peer:close()
