-- W6: a server that sends back what comes, 64 bytes at a time.
local floor, bench = require "floor", require "harness"
local probe, count = bench.probe, bench.echoes(tonumber(arg[1]))
local listener, port = probe.listen()

floor.readable(listener, function()
  local fd = probe.accept(listener)
  if not fd then return end
  floor.readable(fd, function()
    probe.write(fd, probe.read(fd, 4096))
    count()
  end)
end)
probe.clients(port, tonumber(arg[1]))
floor.run()
