-- Datagrams: whole, with their sender; a deadline; a handler; a connected socket sees a refusal.
local ml = require "moonloop"
local loop = ml.current()
local echo = ml.net.udp { host = "127.0.0.1", function(socket, data, peer)
  assert(socket:send(data:reverse(), peer.host, peer.port))
end }
loop:task(function()
  local socket <close> = ml.net.udp { host = "127.0.0.1" }
  for _, text in ipairs { "abc", "", ("x"):rep(60000) } do
    assert(socket:send(text, "127.0.0.1", echo.port))
    local data, peer = socket:receive { timeout = 60 }
    assert(data == text:reverse() and peer.port == echo.port and peer.family == "inet")
  end
  assert(select(3, socket:receive { timeout = 1 }) == "ETIMEDOUT")
  assert(select(3, socket:send(("x"):rep(70000), "127.0.0.1", echo.port)) == "EMSGSIZE")
  local ok, message = pcall(socket.send, socket, "x")
  assert(not ok and message:find "needs host and port", message)
  local port = echo.port
  echo:invalidate()
  local client <close> = ml.net.udp { host = "127.0.0.1",
    connect = { host = "127.0.0.1", port = port } }
  assert(client:send "anybody?")
  assert(select(3, client:receive { timeout = 60 }) == "ECONNREFUSED")
end):wait()
