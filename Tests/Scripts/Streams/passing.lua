-- Descriptors over a Unix socket: the copy stays open when the sender's is closed.
local ml = require "moonloop"
local unique = "@" .. os.tmpname()   -- other runs of the tests have sockets too
os.remove(unique:sub(2))
local loop = ml.current()
loop:task(function()
  local server = ml.net.listen { path = unique, function(stream)
    local fd, data = stream:receive_fd()
    assert(data == "take it", data)
    ml.stream({ fd = fd, read = false }):write("through the copy"):close()
    local none, message, code = stream:receive_fd { timeout = 10 }
    assert(none == nil and code == "ENOMSG" and stream:read(5) == "plain")
    stream:write "done"
    assert(stream:receive_fd() == nil)
  end }
  local from, to = pipe()
  local socket = ml.net.connect { path = unique }
  local stream = ml.stream { fd = to, read = false }
  assert(socket:send_fd(stream, "take it") == socket)
  stream:close()
  local input <close> = ml.stream { fd = from }
  assert(input:read "a" == "through the copy")
  socket:write "plain"
  assert(socket:read(4) == "done")
  assert(select(3, socket:send_fd(9999)) == "EBADF")
  local ok, message = pcall(socket.send_fd, socket, "x")
  assert(not ok and message:find 'takes the number of a descriptor or a stream, got "x"', message)
  socket:close()
  server:invalidate()
end):wait()

-- A socket that comes from elsewhere is in blocking mode: the loop does not wait in the call.
loop:task(function()
  local posix = require "moonloop.posix"
  local one, other = posix.socketpair()
  local stream <close> = ml.stream { fd = other }
  assert(select(3, stream:receive_fd { timeout = 0.01 }) == "ETIMEDOUT")
  local code
  repeat
    local sent
    sent, _, code = stream:send_fd(one, ("x"):rep(1000), { timeout = 0.01 })
  until not sent
  assert(code == "ETIMEDOUT", code)
  close(one)
end):wait()
