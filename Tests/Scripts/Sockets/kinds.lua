-- A socket's handlers are called by kind: accept, connect, read, data, write (R151).
local ml = require "moonloop"
local posix = require "moonloop.posix"
local loop = ml.current()
local trace = {}
local function note(word) trace[#trace + 1] = word end
local function expect(text)
  assert(table.concat(trace, " ") == text, table.concat(trace, " "))
  trace = {}
end

-- Two ends on one loop: connect comes first and once, then write, once; data comes with its end.
local listening = assert(posix.socket "inet")
assert(posix.bind(listening, "127.0.0.1", 0))
assert(posix.listen(listening, 5))
local _, _, port = posix.name(listening)
local accepted
local server <close> = loop:socket_source { fd = listening, close = true, name = "server",
  accept = function(socket, fd)
    assert(socket.name == "server" and socket.fd == listening)
    note "accepted"
    accepted = fd
    loop:stop()
  end }
local writes = 0
local client
local ours = assert(posix.socket "inet")
posix.connect(ours, "127.0.0.1", port)
client = loop:socket_source { fd = ours, close = true,
  connect = function(socket, failed, message)
    assert(failed == nil and message == nil)
    note "connected"
  end,
  write = function(socket)
    writes = writes + 1
    note("write" .. writes)
    posix.write(ours, "part" .. writes)
    if writes == 2 then socket:invalidate() else loop:perform(function() loop:stop() end) end
  end }
while not accepted or writes == 0 do loop:run() end
table.sort(trace)
expect "accepted connected write1"
loop:run { timeout = 0 }
expect ""
client:enable_writing()
local data = ""
local peer = loop:socket_source { fd = accepted, close = true, data = function(socket, bytes)
  data = data .. bytes
  if bytes ~= "" then return end
  note "end"
  loop:perform(function() loop:stop() end)
end }
loop:run()
expect "write2 end"
assert(data == "part1part2" and not client:is_valid())
loop:run { timeout = 0 }
expect ""   -- the end of file is reported once
peer:invalidate()

-- A connection that is refused: nothing listens on a port that is reserved here.
server:invalidate()
local silent = assert(posix.socket "inet")
assert(posix.bind(silent, "127.0.0.1", 0))
local refused = assert(posix.socket "inet")
posix.connect(refused, "127.0.0.1", (select(3, posix.name(silent))))
loop:socket_source { fd = refused, close = true,
  data = function() note "data" end,
  connect = function(socket, failed, message, code)
    note(code)
    socket:invalidate()
    assert(message:find "ECONNREFUSED")
  end }
loop:run()
posix.close(silent)
expect "ECONNREFUSED"

-- Input that the handler must read itself is reported until it is read; it can be disabled.
local near, far = posix.socketpair()
local reads = 0
local reader <close> = loop:socket_source { fd = near, close = true, read = function(socket)
  reads = reads + 1
  if reads == 2 then assert(posix.read(near, 10) == "x") end
end }
posix.write(far, "x")
reader:set_reading(false)
loop:run { timeout = 0 }
assert(reads == 0)
reader:set_reading(true)
for _ = 1, 4 do loop:run { timeout = 0 } end
assert(reads == 2)
assert(loop:dump():find "enabled: read")
assert(not pcall(reader.enable_writing, reader))
posix.close(far)

for _, bad in ipairs { {}, { fd = near }, { fd = near, read = print, data = print } } do
  assert(not pcall(loop.socket_source, loop, bad))
end
assert(select(3, loop:socket_source { fd = 12345, read = print }) == "EBADF")
