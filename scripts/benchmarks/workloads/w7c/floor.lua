-- W7: bytes of private memory for a TCP connection that has said one thing and is idle.
local floor, bench = require "floor", require "harness"
local probe = bench.probe
local listener, port = probe.listen()

bench.connections(port, function(heard, finish)
  floor.readable(listener, function()
    local fd = probe.accept(listener)
    if not fd then return end
    floor.readable(fd, function()
      local data = probe.read(fd, 65536)
      if data then probe.write(fd, data); heard(#data) end
    end)
  end)
  return function() floor.after(0.3, finish) end
end)
floor.run()
