-- A full backlog makes a client wait, until its deadline or the next accept; a cancelled
-- connect leaves nothing open; host names are looked up outside the loop.
local ml = require "moonloop"
local unique = "@" .. os.tmpname()   -- other runs of the tests have sockets too
os.remove(unique:sub(2))
local loop = ml.current()
local server = ml.net.listen { path = unique, backlog = 0 }
local function connect(timeout) return ml.net.connect { path = unique, timeout = timeout } end
loop:task(function(scope)
  local first = assert(connect())
  local start = ml.now()
  local none, message, code = connect(1)
  assert(not none and code == "ETIMEDOUT" and ml.now() - start < 100)
  local second = scope:task(connect)
  local third = scope:task(connect)
  ml.sleep(0)
  third:cancel "enough"
  assert(select(2, pcall(third.await, third)) == "enough")
  local one, peer = server:accept()
  assert(peer.family == "unix" and peer.pid > 0)
  local two = server:accept { timeout = 60 }
  local stream = second:await()
  stream:write "late"
  stream:close()
  assert(two:read "a" == "late")
  assert(server.connections == 2)
  first:close() one:close() two:close()
  assert(server.connections == 0)
  assert(select(3, server:accept { timeout = 0.5 }) == "ETIMEDOUT")
  local waiter = scope:task(function() return server:accept() end)
  ml.sleep(0)
  server:invalidate()
  assert(select(3, waiter:await()) == "ECANCELED")

  local named = ml.net.listen { host = "localhost", port = 0, function(s) s:write "hi" end }
  local stream = assert(ml.net.connect { host = "localhost", port = named.port, timeout = 60 })
  assert(stream:read "a" == "hi")
  stream:close()
  named:invalidate()
  local gone = scope:task(function() return ml.net.resolve "no.such.host.invalid" end)
  ml.sleep(0)
  gone:cancel()
  assert(not pcall(gone.await, gone))
  assert(ml.net.resolve("127.0.0.1")[1] == "127.0.0.1")
  assert(ml.net.resolve("localhost", { family = "inet" })[1] == "127.0.0.1")
end):wait()
