-- W6, W16: a server that sends back what comes.
local floor, bench = require "floor", require "harness"
local probe = bench.probe
local listener = probe.listen(bench.port)

floor.readable(listener, function()
  local fd = probe.accept(listener)
  if not fd then return end
  floor.readable(fd, function()
    local data = probe.read(fd, 65536)
    if data == "" then probe.close(fd) elseif data then probe.write(fd, data) end
  end)
end)
floor.run()
