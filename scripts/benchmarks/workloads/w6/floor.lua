-- W6: a server that sends back what comes.
local floor, bench = require "floor", require "harness"
local probe, count, start_clients = bench.probe, bench.echoes()
local listener, port = probe.listen()

floor.readable(listener, function()
  local fd = probe.accept(listener)
  if not fd then return end
  floor.readable(fd, function()
    local data = probe.read(fd, 65536)
    if not data then return end
    probe.write(fd, data)
    count(#data)
  end)
end)
start_clients(port)
floor.run()
