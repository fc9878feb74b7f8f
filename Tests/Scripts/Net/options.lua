-- Socket options reach the system: a port shared by two listeners, and keepalive.
local ml = require "moonloop"
local loop = ml.current()
loop:task(function()
  local served = { 0, 0 }
  local function listen(place, port)
    return ml.net.listen { host = "127.0.0.1", port = port, reuse_port = true, function(stream)
      served[place] = served[place] + 1
      stream:write "x"
    end }
  end
  local first = assert(listen(1, 0))
  local second = assert(listen(2, first.port))
  assert(select(3, ml.net.listen { host = "127.0.0.1", port = first.port }) == "EADDRINUSE")
  for _ = 1, 64 do
    local stream <close> = assert(ml.net.connect { host = "127.0.0.1", port = first.port })
    assert(stream:read "a" == "x")
  end
  assert(served[1] > 0 and served[2] > 0 and served[1] + served[2] == 64, served[1])
  first:invalidate()
  second:invalidate()

  -- The kernel's own list shows which timer a socket has: 02 is keepalive.
  local server = assert(ml.net.listen { host = "127.0.0.1", port = 0, keepalive = 100,
    function(stream) stream:read "a" end })
  local plain <close> = assert(ml.net.connect { host = "127.0.0.1", port = server.port })
  local asked <close> =
    assert(ml.net.connect { host = "127.0.0.1", port = server.port, keepalive = 100 })
  while server.connections < 2 do ml.sleep(0) end
  local timers, seen = {}, {}
  local suffix = (":%04X"):format(server.port)
  for line in io.lines "/proc/net/tcp" do
    local here, there, state, timer =
      line:match "^%s*%d+: %x+(:%x+) %x+(:%x+) (%x+) %x+:%x+ (%x+):"
    local side = here == suffix and "server " or there == suffix and "client "
    -- The list may show a socket twice, because others come and go while it is read.
    if state == "01" and side and not seen[here .. there] then
      seen[here .. there] = true
      timers[#timers + 1] = side .. timer
    end
  end
  table.sort(timers)
  assert(table.concat(timers, ", ") == "client 00, client 02, server 02, server 02",
    table.concat(timers, ", "))
  server:invalidate()
end):wait()
