-- IPv6: a listener for the whole machine accepts both families, one for IPv6 alone does not.
local ml = require "moonloop"
local loop = ml.current()
local probe = ml.net.listen { host = "::1", port = 0 }
if not probe then return end   -- a machine without IPv6
probe:invalidate()
loop:task(function()
  local both = assert(ml.net.listen { host = "*", port = 0, function(stream, peer)
    stream:write(peer.family, " ", peer.host)
  end })
  local function ask(host)
    local stream <close> = assert(ml.net.connect { host = host, port = both.port, timeout = 60 })
    return stream:read "a"
  end
  assert(ask "::1" == "inet6 ::1")
  -- An IPv4 client of a dual-stack socket is reported as IPv4.
  local v4 = ask "127.0.0.1"
  assert(v4:find "127%.0%.0%.1$", v4)
  both:invalidate()

  local alone = assert(ml.net.listen { host = "::1", port = 0, v6_only = true,
    function(stream) stream:write "six" end })
  assert(alone.address.host == "::1" and alone.address.family == "inet6")
  assert(select(3, ml.net.connect { host = "127.0.0.1", port = alone.port }) == "ECONNREFUSED")
  local stream <close> = assert(ml.net.connect { host = "::1", port = alone.port })
  assert(stream:read "a" == "six")
  alone:invalidate()

  local socket <close> = assert(ml.net.udp { host = "::1" })
  local other <close> = assert(ml.net.udp { host = "::1" })
  assert(other:send("datagram", "::1", socket.port))
  local data, from = socket:receive()
  assert(data == "datagram" and from.host == "::1" and from.port == other.port)
end):wait()
